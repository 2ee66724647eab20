// Words that are pressed join the keywords, or leave them again.
const field = document.getElementById("field-keywords");

function words() {
  return field.value.split(/[,;\n]+/).map((word) => word.trim()).filter(Boolean);
}

function mark() {
  const typed = new Set(words().map((word) => word.toLowerCase()));
  for (const button of document.querySelectorAll("[data-keyword]")) {
    button.setAttribute("aria-pressed", String(typed.has(button.dataset.keyword.toLowerCase())));
  }
}

document.getElementById("suggestions")?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-keyword]");
  if (!button) return;
  const word = button.dataset.keyword;
  const others = words().filter((one) => one.toLowerCase() !== word.toLowerCase());
  field.value = (button.getAttribute("aria-pressed") === "true" ? others : [...others, word]).join(", ");
  mark();
});
field.addEventListener("input", mark);
mark();
