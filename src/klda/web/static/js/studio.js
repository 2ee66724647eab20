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

watchCopies();
watchTheme();
refresh(document);
document.addEventListener("htmx:load", (event) => refresh(event.detail.elt));
