// Shows the setting of the dial while it is turned.
const dial = document.getElementById("dial");
if (dial) {
  dial.addEventListener("input", () => {
    document.getElementById("dial-value").textContent = Number(dial.value).toFixed(1);
  });
}
