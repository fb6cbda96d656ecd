/** The registry of models. */
export function ModelsPage() {
  return (
    <main className="page">
      <div className="page-head">
        <h1>Models</h1>
      </div>
    </main>
  );
}
