/** Machines, their slots and devices, and what runs where. */
export function WorkersPage() {
  return (
    <main className="page">
      <div className="page-head">
        <h1>Workers</h1>
      </div>
    </main>
  );
}
