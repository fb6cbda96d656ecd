/** One model: its facts, its source and where it comes from. */
export function ModelPage() {
  return (
    <main className="page">
      <div className="page-head">
        <h1>Model</h1>
      </div>
    </main>
  );
}
