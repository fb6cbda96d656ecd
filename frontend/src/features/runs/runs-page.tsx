/** The table of runs: any of them by filter, order and columns of one's choice, all in the address. */
import "./runs.css";

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import { Link } from "react-router";

import { Problem } from "@/api/client";
import { experimentsQuery } from "@/api/experiments";
import { runPages } from "@/api/runs";
import type { Run } from "@/api/types";
import { Icon } from "@/components/icons";
import { More } from "@/components/more";
import { useMayChange } from "@/components/use-may";
import { useTrendsOf } from "@/components/run-list/trends";
import { Empty, Loaded } from "@/components/states";
import { useVerdictsAsked } from "@/components/run-list/use-verdicts";
import { PageTitle } from "@/components/page-title";
import { FoldedViews } from "@/components/views/folded-views";
import { useViewSearch } from "@/components/views/view-search";
import { plural } from "@/lib/format";
import { useGo } from "@/lib/address/use-go";
import { useProjectId } from "@/lib/address/use-project";

import { BulkBar } from "./chosen/bulk-bar";
import { ColumnsMenu } from "./columns-menu";
import { asValue } from "./filter/completion";
import { FilterBox } from "./filter/filter-box";
import { FilterHelp } from "./filter/filter-help";
import { listedOnce } from "./listed";
import { NearEnd, RunsTable } from "./table/runs-table";
import { allOrNone, areAllChosen, extended, NOTHING, toggled, without } from "./table/selection";
import { useTableKeys } from "./table/use-table-keys";
import { ChooseAll, MOST_CHOSEN, useChoosingAll } from "./chosen/choose-all";
import { useChosen } from "./chosen/use-chosen";
import { useLiveRows } from "./use-live-rows";
import { isKey, searchOf, viewOf, type View } from "./view";

function NewRunLink({ projectId }: { projectId: string }) {
  return (
    <Link className="btn primary" to={`/projects/${projectId}/runs/new`}>
      <Icon name="plus" /> New run
    </Link>
  );
}

function NothingListed(props: { isFiltered: boolean; newRun: ReactNode; onClear: () => void }) {
  if (props.isFiltered)
    return (
      <Empty
        icon="runs"
        title="No run matches this filter"
        actions={
          <button type="button" className="btn" onClick={props.onClear}>
            Clear the filter
          </button>
        }
      >
        Archived runs are left out unless the filter has archived:any or archived:yes.
      </Empty>
    );
  return (
    <Empty icon="runs" title="No runs listed" actions={props.newRun}>
      {props.newRun === false
        ? "Runs appear here when researchers of this project start them."
        : "Sample responses to rank, fine-tune on demonstrations, train a reward model, then the policy."}{" "}
      Archived runs are left out: the filter archived:yes lists them.
    </Empty>
  );
}

/** How many there are, as far as is known, and the next page before the end is reached. */
function End({ pages, n, isFiltered }: { pages: Pages; n: number; isFiltered: boolean }) {
  const mayGoOn = pages.hasNextPage && !pages.isFetchingNextPage && !pages.isFetchNextPageError;
  return (
    <>
      <More query={pages} />
      {mayGoOn && <NearEnd onNear={() => void pages.fetchNextPage()} />}
      {n > 0 && (
        <p className="small muted count" role="status">
          {pages.hasNextPage && "The first "}
          {plural(n, "run")}
          {isFiltered && (n === 1 ? " that matches" : " that match")}
        </p>
      )}
    </>
  );
}

type Pages = ReturnType<typeof useRuns>["pages"];

function useView() {
  const { search, setSearch } = useViewSearch();
  const view = useMemo(() => viewOf(search), [search]);
  /** `changed`: or what becomes of the view as it is now. */
  const change = useCallback(
    (changed: Partial<View> | ((now: View) => Partial<View>)) =>
      setSearch((now) => {
        const before = viewOf(now);
        const after = typeof changed === "function" ? changed(before) : changed;
        return searchOf({ ...before, ...after }, now);
      }),
    [setSearch],
  );
  return { view, change };
}

const OVER: ReadonlySet<Run["state"]> = new Set(["succeeded", "failed", "crashed", "cancelled"]);
const isUnjudged = (run: Run) => OVER.has(run.state) && run.verdict === null;

function useRuns(projectId: string, { filter, sort, columns }: View) {
  const keys = columns.filter(isKey).join();
  const query = { project_id: projectId, filter, sort, columns: keys };
  const pages = useInfiniteQuery({ ...runPages(query), placeholderData: keepPreviousData });
  const loaded = useMemo(() => pages.data?.pages.map(({ items }) => items) ?? [], [pages.data]);
  const listed = useMemo(() => listedOnce(loaded), [loaded]);
  const told = useLiveRows(listed, keys);
  // Those that the worker has not come to yet, as after an upgrade.
  const verdicts = useVerdictsAsked(useMemo(() => listed.filter(isUnjudged), [listed]));
  const rows = useMemo(
    () =>
      told.map(({ run, fresh }) => {
        const verdict = run.verdict ?? verdicts.found.get(run.id) ?? null;
        return verdict === run.verdict ? { run, fresh } : { run: { ...run, verdict }, fresh };
      }),
    [told, verdicts],
  );
  return { pages, rows, headlines: useTrendsOf(loaded, null), lostVerdicts: verdicts.failed };
}

/** The names of experiments, if they are shown. */
function useExperiments(projectId: string, isShown: boolean): ReadonlyMap<string, string> {
  const { data } = useQuery({ ...experimentsQuery(projectId), enabled: isShown });
  return useMemo(() => new Map(data?.items.map(({ id, name }) => [id, name])), [data]);
}

export function RunsPage() {
  const projectId = useProjectId();
  const mayChange = useMayChange(projectId);
  const { search, saved } = useViewSearch();
  // A view that the address names comes first: without it the table would show all runs.
  const isKnown = saved === null || saved.data !== undefined || search.size > 0;
  return (
    <div className="page runs-page">
      <div className="page-head">
        <div>
          <PageTitle>Runs</PageTitle>
          <h1>Runs</h1>
          <p>A run is one execution of a method with a config and data.</p>
        </div>
        <span className="grow" />
        <FoldedViews page="runs" />
        {mayChange && <NewRunLink projectId={projectId} />}
      </div>
      {isKnown ? (
        <Listed key={projectId} projectId={projectId} mayChange={mayChange} />
      ) : (
        <Loaded query={saved} lines={8}>
          {() => null}
        </Loaded>
      )}
    </div>
  );
}

function Listed({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const { view, change } = useView();
  const { pages, rows, headlines, lostVerdicts } = useRuns(projectId, view);
  const experiments = useExperiments(projectId, view.columns.includes("experiment"));
  const listedRuns = useMemo(() => rows.map(({ run }) => run), [rows]);
  const known = pages.data === undefined ? null : listedRuns;
  const { selection, setSelection, chosen } = useChosen(projectId, known);
  const [editedId, setEdited] = useState<string | null>(null);
  const [opened, setOpened] = useState<"columns" | "help" | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const go = useGo();

  const ids = useMemo(() => rows.map(({ run }) => run.id), [rows]);
  const choosingAll = useChoosingAll(pages, view, setSelection);
  const onChoose = useCallback(
    (runId: string, isRange: boolean) =>
      setSelection((now) => (isRange ? extended(now, ids, runId) : toggled(now, runId))),
    [ids, setSelection],
  );
  const onTag = useCallback(
    (tag: string) => change(({ filter }) => ({ filter: `${filter} tag:${asValue(tag)}`.trim() })),
    [change],
  );

  useTableKeys({
    ids,
    selection,
    onSelection: setSelection,
    onFilter: () => field.current?.focus(),
    onHelp: () => setOpened("help"),
    onOpen: (runId) => void go(`/projects/${projectId}/runs/${runId}`),
    onEdit: mayChange ? setEdited : null,
  });

  const isWrong = pages.error instanceof Problem && pages.error.status === 422;
  const isFiltered = view.filter !== "";
  return (
    <>
      <div className="row filters">
        <FilterBox
          projectId={projectId}
          value={view.filter}
          problem={isWrong ? (pages.error?.message ?? null) : null}
          field={field}
          onFilter={(filter) => change({ filter })}
          onHelp={() => setOpened("help")}
        />
        <button type="button" className="btn" onClick={() => setOpened("columns")}>
          Columns
        </button>
      </div>
      <section className="card" aria-busy={pages.isPlaceholderData}>
        {isWrong ? (
          <Empty icon="runs" title="This filter cannot be read">
            The line below the filter says where it goes wrong and what is expected there.
          </Empty>
        ) : (
          <Loaded query={pages} lines={8} isNone={() => rows.length === 0}>
            {() =>
              rows.length === 0 ? (
                <NothingListed
                  isFiltered={isFiltered}
                  newRun={mayChange && <NewRunLink projectId={projectId} />}
                  onClear={() => change({ filter: "" })}
                />
              ) : (
                <RunsTable
                  rows={rows}
                  columns={view.columns}
                  headlines={headlines}
                  lostVerdicts={lostVerdicts}
                  experiments={experiments}
                  selection={selection}
                  editedId={editedId}
                  mayEdit={mayChange}
                  sort={view.sort}
                  onSort={(sort) => change({ sort })}
                  onChoose={onChoose}
                  onChooseAll={() => setSelection((now) => allOrNone(now, ids))}
                  onEdit={setEdited}
                  onTag={onTag}
                />
              )
            }
          </Loaded>
        )}
        {!isWrong && <End pages={pages} n={rows.length} isFiltered={isFiltered} />}
      </section>
      <BulkBar
        projectId={projectId}
        chosen={chosen}
        mayChange={mayChange}
        more={
          pages.hasNextPage &&
          areAllChosen(selection, ids) && (
            <ChooseAll {...choosingAll} isFull={selection.chosen.length >= MOST_CHOSEN} />
          )
        }
        onArchived={(runIds) => {
          // The list shows them no longer, unless its filter asks for them.
          if (!view.filter.includes("archived")) setSelection((now) => without(now, runIds));
        }}
        onClear={() => setSelection(NOTHING)}
      />
      {opened === "columns" && (
        <ColumnsMenu
          projectId={projectId}
          columns={view.columns}
          onColumns={(of) => change(({ columns }) => ({ columns: of(columns) }))}
          onClose={() => setOpened(null)}
        />
      )}
      {opened === "help" && <FilterHelp projectId={projectId} onClose={() => setOpened(null)} />}
    </>
  );
}
