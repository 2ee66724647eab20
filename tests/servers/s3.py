"""Object storage that speaks the S3 protocol, on loopback and in a process of its own.

In the same process it could not answer: Delta holds Python's lock while it waits for some of its requests.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import boto3

BUCKET = "klda-test"
REGION = "eu-central-1"
SECRET = "not-a-real-secret-71c3"


def serve() -> None:
    """Serves until it is told to end; prints its port."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    print(server.get_host_and_port()[1], flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


@contextmanager
def running() -> Iterator[str]:
    """The address of a server with one empty bucket, for as long as the block lasts."""
    command = [sys.executable, "-m", "tests.servers.s3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = f"http://127.0.0.1:{int(process.stdout.readline())}"
            client(address).create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
            yield address
        finally:
            process.kill()


def client(address: str) -> boto3.client:
    """Somebody who looks at the bucket from outside."""
    return boto3.client(
        "s3", endpoint_url=address, region_name=REGION, aws_access_key_id="tests", aws_secret_access_key=SECRET
    )


def content(address: str, prefix: str = "") -> dict[str, bytes]:
    """Everything in the bucket, by name."""
    looking = client(address)
    pages = looking.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    names = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
    return {name: looking.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in names}


if __name__ == "__main__":
    serve()
