// Runs before the page is drawn, so that the chosen theme never flashes.
(() => {
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // without storage the system's theme holds
  }
})();
