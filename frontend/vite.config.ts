import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` proxies to a running `podium up`; the built files are served by the API itself.
const api = process.env["PODIUM_URL"] ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  server: { proxy: { "/api": { target: api, changeOrigin: true } } },
  build: {
    target: "es2022",
    chunkSizeWarningLimit: 400,
    // The content security policy allows fonts from data: URLs, but files cache better.
    assetsInlineLimit: 0,
  },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node", testTimeout: 60_000 },
});
