// What every page does; one idea a module.
import { drawCharts } from "./charts.js";
import { watchCopies } from "./copy.js";
import { watchLive } from "./live.js";
import { watchTheme } from "./toggle.js";
import { localiseTimes } from "./times.js";

function refresh(root) {
  localiseTimes(root);
  drawCharts(root);
  watchLive(root);
}

// A part of the page that could not be fetched would show old numbers beside new ticks.
function tellSilence(silent) {
  document.querySelector("[data-silence]")?.remove();
  if (!silent) return;
  const told = Object.assign(document.createElement("p"), { className: "notice", textContent: "The studio does not answer: what you see may be out of date." });
  told.dataset.silence = "yes";
  document.getElementById("notice").append(told);
}

watchCopies();
watchTheme();
refresh(document);
document.addEventListener("htmx:sendError", () => tellSilence(true));
document.addEventListener("htmx:afterOnLoad", () => tellSilence(false));
document.addEventListener("htmx:load", (event) => refresh(event.detail.elt));
