import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` proxies to a running `podium up`; the built files are served by the API itself.
const api = process.env["PODIUM_URL"] ?? "http://127.0.0.1:8000";

const fileOf = (path: string) => new URL(path, import.meta.url).pathname;

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      "@": fileOf("./src"),
      // What tests of `src` share.
      "@testing": fileOf("./testing"),
      // For `@vitest-environment window` in tests.
      "vitest-environment-window": fileOf("./testing/window.ts"),
    },
  },
  server: { proxy: { "/api": { target: api, changeOrigin: true } } },
  build: {
    target: "es2022",
    chunkSizeWarningLimit: 400,
    // The content security policy allows fonts from data: URLs, but files cache better.
    assetsInlineLimit: 0,
  },
  test: {
    include: ["{src,testing}/**/*.test.{ts,tsx}"],
    testTimeout: 60_000,
    // Files share a process; `afresh.ts` keeps them apart.
    isolate: false,
    setupFiles: "testing/afresh.ts",
    server: {
      deps: { inline: [/\/node_modules\/(@tanstack|fake-indexeddb|uplot|react-router)\//] },
    },
  },
});
