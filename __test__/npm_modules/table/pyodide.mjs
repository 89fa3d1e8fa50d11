// Python.
import { loadPyodide } from "pyodide";

export default async () => {
  const python = await loadPyodide();
  return () =>
    python.runPython(
      "kept = globals().get('kept', []) + [object() for _ in range(100)]; len(kept)",
    );
};
