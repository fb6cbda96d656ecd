import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "@/styles/tokens.css";
import "@/styles/base.css";
import "@/styles/parts.css";
import "@/styles/layout.css";
import "@/styles/forms.css";
import "@/styles/prose.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "@/app/app";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
