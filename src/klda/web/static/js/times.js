// Turns every <time datetime> into the reader's own zone and language.
const STYLES = {
  full: { dateStyle: "medium", timeStyle: "short" },
  day: { dateStyle: "medium" },
};
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

function ago(date) {
  const seconds = Math.round((date - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

export function localiseTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.valueOf())) continue;
    const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" }).format(date);
    const style = element.dataset.style;
    element.textContent = style === "ago" ? ago(date) : new Intl.DateTimeFormat(undefined, STYLES[style] ?? STYLES.full).format(date);
    element.title = full;
  }
}
