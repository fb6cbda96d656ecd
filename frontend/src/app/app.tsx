/** Providers and the table of addresses; ranking, runs and charts load when they are opened. */
import { QueryClientProvider } from "@tanstack/react-query";
import { createBrowserRouter, RouterProvider } from "react-router";

import { Skeleton } from "@/components/states";

import { Crash, NotFound } from "./crash";
import { ProjectPages } from "./project-pages";
import { ModelRedirect, ProjectRedirect, RewardVsKlRedirect, RunRedirect } from "./redirects";
import { queryClient } from "./query-client";
import { Shell } from "./shell";
import { UnsentOf } from "./unsent/unsent-of";

const loading = () => <Skeleton lines={6} />;

const pages = [
  {
    path: "now",
    lazy: async () => ({ Component: (await import("@/features/now/now-page")).NowPage }),
  },
  {
    path: "rank",
    lazy: async () => ({ Component: (await import("@/features/rank/rank-page")).RankPage }),
  },
  {
    path: "rank/:assignmentId",
    lazy: async () => ({ Component: (await import("@/features/rank/revise-page")).RevisePage }),
  },
  {
    path: "mine",
    lazy: async () => ({ Component: (await import("@/features/mine/mine-page")).MinePage }),
  },
  {
    path: "data/:tab?",
    lazy: async () => ({ Component: (await import("@/features/data/data-page")).DataPage }),
  },
  {
    path: "runs",
    lazy: async () => ({ Component: (await import("@/features/runs/runs-page")).RunsPage }),
  },
  {
    path: "compare",
    lazy: async () => ({
      Component: (await import("@/features/compare/compare-page")).ComparePage,
    }),
  },
  {
    path: "runs/new",
    lazy: async () => ({ Component: (await import("@/features/new-run/new-run-page")).NewRunPage }),
  },
  { path: "runs/:runId/frontier", element: <RewardVsKlRedirect /> },
  {
    path: "runs/:runId/:tab?",
    lazy: async () => ({ Component: (await import("@/features/run/run-page")).RunPage }),
  },
  {
    path: "experiments",
    lazy: async () => ({
      Component: (await import("@/features/experiments/experiments-page")).ExperimentsPage,
    }),
  },
  {
    path: "experiments/:experimentId",
    lazy: async () => ({
      Component: (await import("@/features/experiments/one/experiment-page")).ExperimentPage,
    }),
  },
  {
    path: "models",
    lazy: async () => ({ Component: (await import("@/features/models/models-page")).ModelsPage }),
  },
  {
    path: "models/:modelId",
    lazy: async () => ({ Component: (await import("@/features/models/model-page")).ModelPage }),
  },
  {
    path: "workers",
    lazy: async () => ({
      Component: (await import("@/features/workers/workers-page")).WorkersPage,
    }),
  },
  {
    path: "guidelines",
    lazy: async () => ({
      Component: (await import("@/features/guidelines/guidelines-page")).GuidelinesPage,
    }),
  },
  {
    path: "settings/:tab?",
    lazy: async () => ({
      Component: (await import("@/features/settings/settings-page")).SettingsPage,
    }),
  },
  { path: "*", element: <NotFound /> },
].map((route) => ({ ...route, hydrateFallbackElement: loading() }));

const router = createBrowserRouter([
  {
    path: "/sign-in",
    errorElement: <Crash />,
    hydrateFallbackElement: loading(),
    lazy: async () => {
      const { SignInPage } = await import("@/features/sign-in/sign-in-page");
      return { element: <SignInPage unsentOf={UnsentOf} /> };
    },
  },
  {
    path: "/invitation",
    errorElement: <Crash />,
    hydrateFallbackElement: loading(),
    lazy: async () => ({
      Component: (await import("@/features/invitation/invitation-page")).InvitationPage,
    }),
  },
  {
    path: "/",
    element: <Shell />,
    errorElement: <Crash />,
    children: [
      { index: true, element: <ProjectRedirect /> },
      {
        path: "account",
        hydrateFallbackElement: loading(),
        lazy: async () => ({
          Component: (await import("@/features/account/account-page")).AccountPage,
        }),
      },
      { path: "runs/:runId", element: <RunRedirect /> },
      { path: "models/:modelId", element: <ModelRedirect /> },
      {
        path: "projects/:projectId",
        element: <ProjectPages />,
        errorElement: <Crash />,
        children: pages,
      },
      { path: "*", element: <NotFound /> },
    ],
  },
]);

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      {/* In a transition a change of the address is drawn later: a field whose value it is would lose letters. */}
      <RouterProvider router={router} useTransitions={false} />
    </QueryClientProvider>
  );
}
