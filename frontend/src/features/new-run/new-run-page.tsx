/** The form for a new run, made from the schema of its method. */
export function NewRunPage() {
  return (
    <main className="page">
      <div className="page-head">
        <h1>New run</h1>
      </div>
    </main>
  );
}
