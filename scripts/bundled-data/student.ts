// The people whom all bundled domains share, and the holds on their accounts.
// S1001-S1035 are the people in the academic queries, S1036-S1070 in the financial ones, S1071-S1105 in the health
// ones, S1106-S1140 in the combinations; the rest are there because a university has more students than problems.
import { createRandom } from "../../src/core/index.ts";
import type { Row } from "../../src/tools/index.ts";

const GIVEN =
  `Amara Bilal Chiara Dmitri Elif Farid Greta Hiroshi Imani Jonas Kavya Luca Mei Nadia Omar Priya Quentin Rosa
Soren Tomas Uma Viktor Wanjiru Xiomara Yusuf Zofia Aiko Beatriz Carlos Deepa Emeka Fatima Gabriel Hannah Ivan Jasmine
Kofi Leila Mateo Ngozi`.split(/\s+/);
const FAMILY =
  `Adeyemi Bianchi Chen Demir Eriksson Fernandes Gupta Haddad Ivanova Jimenez Kowalski Larsen Mbeki Nakamura
Okafor Petrov Quispe Rossi Schneider Tanaka Ueda Varga Williams Xu Yilmaz Zimmermann Alvarez Boateng Costa Dubois`.split(
    /\s+/,
  );
const STREETS = [
  "Alder Street",
  "Birch Lane",
  "Canal Road",
  "Dock Street",
  "Elm Avenue",
  "Foundry Row",
  "Garden Terrace",
];
const PROGRAMS = [
  "Computer Science",
  "Mechanical Engineering",
  "Biology",
  "Economics",
  "History",
  "Nursing",
  "Mathematics",
  "Psychology",
  "Architecture",
  "Music",
];
const ADVISORS = ["Dr. Lindqvist", "Dr. Okonkwo", "Dr. Hartmann", "Dr. Sato", "Dr. Moreau", "Dr. Castellanos"];

export function makeTables(): { Student: Row[] } {
  const random = createRandom("bundled students");
  const students: Row[] = [];
  for (let index = 0; index < 160; index++) {
    const given = GIVEN[index % GIVEN.length] as string;
    const family = FAMILY[(index * 7 + Math.floor(index / GIVEN.length) * 3) % FAMILY.length] as string;
    const year = 1 + random.int(4);
    const kin = `${random.pick(GIVEN)} ${family}`;
    students.push({
      student_id: `S${1001 + index}`,
      name: `${given} ${family}`,
      email: `${given}.${family}@uni.example`.toLowerCase(),
      phone: `555-${String(1000 + random.int(9000))}`,
      address: `${1 + random.int(240)} ${random.pick(STREETS)}`,
      date_of_birth: `${2007 - year - random.int(3)}-${two(1 + random.int(12))}-${two(1 + random.int(28))}`,
      pin: String(1000 + random.int(9000)),
      health_card: `HC${100000 + random.int(900000)}`,
      program: random.pick(PROGRAMS),
      year,
      residency: random.pick(["in_state", "in_state", "out_of_state", "international"]),
      status: "active",
      advisor: random.pick(ADVISORS),
      emergency_contact: {
        name: kin,
        phone: `555-${String(1000 + random.int(9000))}`,
        relation: random.pick(["parent", "sibling", "partner"]),
      },
    });
  }
  return { Student: students };
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
