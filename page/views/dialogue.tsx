// One dialogue with its evidence.
import type { DialogueView as Dialogue } from "../../src/viewer/api.ts";
import { pathTo } from "../address.ts";
import { Shown } from "../frame.tsx";
import { useServer } from "../server.ts";
import { AnnotateDialogue, AnnotateMessage, Annotations } from "./annotate.tsx";

export function DialogueView({ name, dataset, id }: { name: string; dataset: string; id: string }) {
  const answer = useServer<Dialogue>(`/api${pathTo("run", name, "rollout", dataset, id)}`, name);
  return (
    <Shown answer={answer}>
      {({ trajectory, verdict }) => (
        <Annotations key={`${name} ${dataset} ${id}`} name={name} dataset={dataset} id={id}>
          <h1>{id}</h1>
          <p>
            {trajectory?.metadata.stop_reason}, {verdict}
          </p>
          {trajectory?.messages.map((message, at) => (
            <article key={at} class={message.role}>
              <h2>{message.role}</h2>
              <pre>{message.content}</pre>
              <AnnotateMessage at={at} />
            </article>
          ))}
          {trajectory && <AnnotateDialogue />}
        </Annotations>
      )}
    </Shown>
  );
}
