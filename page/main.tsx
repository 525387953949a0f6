// The page: one address, one view. Each view is a file in views/, and its address says all that it shows.
import { render } from "preact";
import { Address } from "./address.ts";
import { Page } from "./frame.tsx";
import { listenToKeys } from "./keys.ts";
import { follow } from "./server.ts";

follow();
Address.listen();
listenToKeys();
render(<Page />, document.getElementById("page") as HTMLElement);
