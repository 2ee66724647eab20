// Draws each picture again from its specification: tooltips, and the width of the screen. Without scripts the SVG stays.
(async () => {
  const options = {
    actions: false,
    ast: true, // expressions are interpreted, not compiled: the page's policy allows no eval
    renderer: "svg",
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };
  for (const figure of document.querySelectorAll("figure[data-picture]")) {
    const spec = JSON.parse(document.getElementById(`spec-${figure.dataset.picture}`).textContent);
    const still = figure.querySelector(".chart");
    const drawn = document.createElement("div");
    drawn.className = "chart drawing";
    still.before(drawn);
    try {
      await vegaEmbed(drawn, spec, options);
      drawn.classList.remove("drawing");
      still.remove();
    } catch (error) {
      drawn.remove();
      console.error(error);
    }
  }
  document.documentElement.dataset.drawn = "yes";
})();
