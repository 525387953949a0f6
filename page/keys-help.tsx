// The list of keys, over the view.
import { useEffect, useRef } from "preact/hooks";
import { isHelpOpen, listKeys } from "./keys.ts";

export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={close}>
      {isOpen && (
        <>
          <h2 id="keys-title">Keys</h2>
          {listKeys().map(({ title, keys }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map(({ names, does }) => (
                  <div key={does}>
                    <dt>
                      {names.map((name) => (
                        <kbd key={name}>{NAMES[name] ?? name}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <p class="small">
            <kbd>?</kbd> shows and hides this. Keys do nothing while you type in a field.
          </p>
          <button type="button" onClick={close}>
            Close
          </button>
        </>
      )}
    </dialog>
  );
}

const NAMES: { [key: string]: string } = {
  ArrowLeft: "Left",
  ArrowRight: "Right",
  ArrowUp: "Up",
  ArrowDown: "Down",
  " ": "Space",
};
