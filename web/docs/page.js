// The API page: every route of openapi.json, to read and to try as whoever is signed in to the console in this tab.

const { token } = JSON.parse(sessionStorage.getItem("keepsake.session") ?? "{}");

const page = window.SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  validatorUrl: null,
  onComplete: () => {
    if (token) page.preauthorizeApiKey("userToken", token);
  },
});
