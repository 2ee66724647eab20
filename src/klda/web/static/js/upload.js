// Sends a file that is chosen or dropped, shows how far it is, and goes on to what is in it.
import { csrfHeaders } from "./csrf.js";

const form = document.getElementById("drop");
const chooser = document.getElementById("file");
const progress = form.querySelector(".progress");
const bar = progress.querySelector("progress");
const stage = progress.querySelector("[data-stage]");
const problem = form.querySelector(".error");
let sending = null;

function say(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

function megabytes(bytes) {
  return (bytes / 1e6).toLocaleString(undefined, { maximumFractionDigits: 1 });
}

function idle(text = "") {
  sending = null;
  progress.hidden = true;
  chooser.disabled = false;
  chooser.value = "";
  say(text);
}

function query() {
  const given = new FormData(form);
  const reading = new URLSearchParams();
  for (const name of ["timezone", "date_format"]) {
    const value = given.get(name).trim();
    if (value) reading.set(name, value);
  }
  return reading.toString();
}

function send(file) {
  if (sending || !file) return;
  if (file.size > Number(form.dataset.limit)) {
    idle(`The file has ${megabytes(file.size)} MB, more than is allowed.`);
    return;
  }
  say("");
  chooser.disabled = true;
  progress.hidden = false;
  sending = new XMLHttpRequest();
  sending.open("POST", `/api/v1/uploads?${query()}`);
  sending.responseType = "json";
  sending.setRequestHeader("Content-Type", "application/octet-stream");
  for (const [name, value] of Object.entries(csrfHeaders())) sending.setRequestHeader(name, value);
  sending.upload.onprogress = (event) => {
    bar.value = event.loaded / file.size;
    stage.textContent = event.loaded < file.size ? `${megabytes(event.loaded)} of ${megabytes(file.size)} MB` : "reading the posts";
    if (event.loaded >= file.size) bar.removeAttribute("value");
  };
  sending.onload = () => {
    const { status, response } = sending;
    if (status === 201) location.assign(`/upload/${response.id}`);
    else idle(response?.detail ?? `The studio answered with ${status}.`);
  };
  sending.onerror = () => idle("The connection broke off; try again.");
  sending.onabort = () => idle();
  sending.send(file);
}

chooser.addEventListener("change", () => send(chooser.files[0]));
form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("[data-stop]").addEventListener("click", () => sending?.abort());
for (const name of ["dragover", "dragleave", "drop"]) {
  form.addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.toggle("over", name === "dragover");
    if (name === "drop") send(event.dataTransfer.files[0]);
  });
}
