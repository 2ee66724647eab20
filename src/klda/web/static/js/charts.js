// Draws every figure[data-chart]: its specification stands beside it as JSON, or `data-source` names where it comes from.
// Expressions are interpreted, not compiled: the policy of the studio allows no eval.
const OPTIONS = {
  actions: false,
  ast: true,
  renderer: "svg",
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

async function specification(figure) {
  const beside = figure.querySelector("script[type='application/json']");
  if (beside) return JSON.parse(beside.textContent);
  const response = await fetch(figure.dataset.source, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the picture could not be fetched (${response.status})`);
  return response.json();
}

export async function drawChart(figure) {
  const place = figure.querySelector(".chart");
  try {
    await vegaEmbed(place, await specification(figure), OPTIONS);
    place.classList.add("drawn");
  } catch (error) {
    place.textContent = "This picture could not be drawn.";
    console.error(error);
  }
}

export async function drawCharts(root) {
  const figures = [...root.querySelectorAll("figure[data-chart]:not([data-drawn])")];
  for (const figure of figures) figure.dataset.drawn = "yes";
  for (const figure of figures) await drawChart(figure);
  if (root === document) document.documentElement.dataset.ready = "yes";
}
