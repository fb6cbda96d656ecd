/** Short names for the generated types; nothing here is written by hand but the names. */
import type { components } from "./schema.gen";

type Schemas = components["schemas"];

export type User = Schemas["UserAnswer"];
export type UserChange = Schemas["UserChange"];
export type Role = Schemas["Role"];
export type Scope = Schemas["Scope"];
export type Key = Schemas["KeyAnswer"];
export type Member = Schemas["MemberAnswer"];
export type ProjectRole = Schemas["MemberChange"]["role"];
export type Invitation = Schemas["InvitationAnswer"];
export type InvitedPerson = Schemas["InvitedPerson"];
export type OpenedInvitation = Schemas["OpenedInvitation"];
export type Project = Schemas["ProjectAnswer"];
export type ProjectBody = Schemas["ProjectBody"];
export type ProjectChange = Schemas["ProjectChange"];
export type Criterion = Schemas["Criterion"];
export type PracticeBody = Schemas["PracticeBody"];
export type PracticeComparison = Schemas["PracticeComparisonAnswer"];
export type PracticeFeedback = Schemas["PracticeFeedback"];
export type PracticeState = Schemas["PracticeState"];
export type PracticeTask = Schemas["PracticeTask"];
export type CriterionRanking = Schemas["CriterionRankingAnswer"];
export type Guidelines = Schemas["GuidelinesAnswer"];
export type GuidelineVersion = Schemas["GuidelineVersionAnswer"];
export type Prompt = Schemas["PromptAnswer"];
export type Demonstration = Schemas["DemonstrationAnswer"];
export type Solution = Schemas["SolutionAnswer"];
export type Message = Schemas["Message"];
export type Comparison = Schemas["ComparisonAnswer"];
export type Assignment = Schemas["AssignmentAnswer"];
export type Judgment = Schemas["JudgmentAnswer"];
export type OwnJudgment = Schemas["OwnJudgmentAnswer"];
export type JudgmentBody = Schemas["JudgmentBody"];
export type AnnotationProgress = Schemas["AnnotationProgress"];
export type Aggregation = Schemas["Aggregation"];
export type Agreement = Schemas["AgreementAnswer"];
export type Facts = Schemas["FactsAnswer"];
export type ImportResult = Schemas["ImportAnswer"];
export type Snapshot = Schemas["SnapshotAnswer"];
export type SnapshotBody = Schemas["SnapshotBody"];
export type Experiment = Schemas["ExperimentAnswer"];
export type Run = Schemas["RunAnswer"];
export type RunBody = Schemas["RunBody"];
export type RunState = Schemas["RunState"];
export type Validation = Schemas["ValidationAnswer"];
export type ConfigProblem = Schemas["ConfigProblem"];
export type Metrics = Schemas["MetricsAnswer"];
export type Series = Schemas["Series"];
export type Sample = Schemas["SampleAnswer"];
export type Samples = Schemas["SamplesAnswer"];
export type LogLine = Schemas["LogLineAnswer"];
export type Checkpoint = Schemas["CheckpointAnswer"];
export type Artifact = Schemas["ArtifactAnswer"];
export type Failure = Schemas["FailureAnswer"];
export type RunError = Schemas["RunError"];
export type RunEvent = Schemas["EventAnswer"];
export type Worker = Schemas["WorkerAnswer"];
export type WorkerState = Schemas["WorkerState"];
export type Device = Schemas["DeviceAnswer"];
export type Workers = Schemas["WorkersAnswer"];
export type Method = Schemas["MethodAnswer"];
export type Methods = Schemas["MethodsAnswer"];
export type Preset = Schemas["Preset"];
export type Model = Schemas["ModelAnswer"];
export type ModelDetail = Schemas["ModelDetail"];
export type LineageNode = Schemas["LineageNode"];

export interface Listing<Item> {
  items: Item[];
  next_cursor?: string | null;
}

/** A value of JSON as it comes over the wire. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
