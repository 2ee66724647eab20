// Elements with data-job="address of a job" show how far it is, live; their button asks it to stop.
import { csrfHeaders } from "./csrf.js";

const NUMBER = new Intl.NumberFormat();

function show(element, job) {
  const bar = element.querySelector("progress");
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else {
    bar.removeAttribute("value");
  }
  const how = job.total ? `: ${NUMBER.format(job.done)} of ${NUMBER.format(job.total)}` : "";
  element.querySelector("[data-stage]").textContent = job.cancelled ? "is asked to stop" : (job.stage || "starting") + how;
}

function ended(element, job) {
  if (job.state === "done") {
    location.assign(element.dataset.after || location.href);
    if (!element.dataset.after) location.reload();
  } else {
    location.reload();
  }
}

function watch(element) {
  const address = element.dataset.job;
  const events = new EventSource(`${address}/events`);
  events.onmessage = (event) => {
    const job = JSON.parse(event.data);
    show(element, job);
    if (!["waiting", "running"].includes(job.state)) {
      events.close();
      ended(element, job);
    }
  };
  events.addEventListener("gone", () => { events.close(); location.assign("/"); });
  addEventListener("pagehide", () => events.close());
  const button = element.querySelector("[data-cancel]");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const answer = await fetch(`${address}/cancel`, { method: "POST", headers: csrfHeaders() });
    if (!answer.ok) {
      const error = element.querySelector("[data-error]");
      error.textContent = (await answer.json()).detail;
      error.hidden = false;
      button.disabled = false;
    }
  });
}

for (const element of document.querySelectorAll("[data-job]")) watch(element);
