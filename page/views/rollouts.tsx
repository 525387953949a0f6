// The table of a run's rollouts. What it shows is all in the address.
import type { TableView } from "../../src/viewer/api.ts";
import { Address, pathTo } from "../address.ts";
import { Shown } from "../frame.tsx";
import { useServer } from "../server.ts";
import { count, duration } from "../text.ts";
import { AnnotationCell } from "./annotate.tsx";
import { ReviewLink } from "./review.tsx";

export function RolloutsView({ name }: { name: string }) {
  const answer = useServer<TableView>(`/api${pathTo("run", name, "rollouts")}?${Address.params}`, name);
  return (
    <Shown answer={answer}>
      {({ rows, chosen, total }) => (
        <>
          <h1>
            {count(chosen)} of {count(total)} rollouts
          </h1>
          <ReviewLink name={name} />
          <table>
            <thead>
              <tr>
                {["id", "dataset", "stop", "verdict", "turns", "calls", "seconds", "annotation"].map((column) => (
                  <th key={column} scope="col">
                    <a href={Address.with({ sort: column })}>{column}</a>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={`${row.dataset} ${row.id}`}>
                  <th scope="row">
                    <a href={pathTo("run", name, "rollout", row.dataset, row.id)}>{row.id}</a>
                  </th>
                  <td>{row.dataset}</td>
                  <td>{row.stopReason}</td>
                  <td>{row.verdict}</td>
                  <td>{row.turns}</td>
                  <td>{row.toolCalls}</td>
                  <td>{duration(row.seconds)}</td>
                  <td>
                    <AnnotationCell {...row} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Shown>
  );
}
