// The names of a made-up country. None of them has a digit, so that a document's name with one letter changed is nobody's.

const list = (text: string) => text.split(",").map((name) => name.trim());

export const COUNTRY = "Varland";

export const TOWNS = list(
  `Aldermoor, Brackwater, Corvane, Dunhallow, Eskerly, Fallowmere, Gullhaven, Hexbury, Ilverton, Jessamy Bay, Kelmsford,
  Lorrimar, Mossgarth, Nettlecombe, Orrin Vale, Pellbridge, Quarrendale, Ravensholt, Saltern, Thornaby, Umberley, Vexholm,
  Wyndle, Yarrowfell`,
);

/** What some of the towns were called before. */
export const FORMER_NAMES = list(
  "Pell Crossing, Blackharbour, Kingsmoor, Upper Ferry, Stonewick, Lorn, Marchgate, Elmstead",
);

export const RIVERS = list("Tarn, Ouzel, Merrow, Lathe, Withy, Sable, Gantry, Isk, Fenwater, Bright");

export const DISTRICTS = list("Northmark, the Lowlands, the Skerry Coast, Highmoor, the Eastern Dales");

export const FIRST_NAMES = list(
  `Ada, Alaric, Agnes, Bertil, Brida, Caspar, Celia, Dorrit, Edmund, Elske, Fabian, Flora, Gideon, Greta, Hector, Hedda,
  Ingram, Isolde, Jasper, Johanna, Konrad, Lavinia, Leopold, Linnea, Magnus, Marta, Nathaniel, Nora, Oswald, Ottilie,
  Percival, Petra, Quentin, Rosalind, Rufus, Sabina, Silas, Tamsin, Theodor, Ursula, Valentin, Vera, Walter, Wilhelmina`,
);

export const LAST_NAMES = list(
  `Abernay, Ashgrove, Balfrey, Birkholm, Brandreth, Calloway, Cardew, Carrick, Dagworth, Drummle, Dunmoor, Ellery,
  Estmark, Fairlamb, Farrant, Garrow, Goodspeed, Grimstad, Halvard, Harkness, Hollis, Iverach, Jorrocks, Kellaway,
  Kestrell, Lambourn, Lindqvar, Lorne, Mallory, Marchbanks, Merriden, Nightingale, Oakshott, Orme, Pemberley, Penhallow,
  Quillfeather, Ravenel, Rookwood, Sallow, Skarsgate, Stavely, Swinburn, Tallis, Tregarth, Underhill, Vantongeren,
  Wainfleet, Wexcombe, Whitlock, Winterbourne, Yelland, Zellwood`,
);

export const SCHOOLS = list(
  "Corvane Polytechnic, the University of Lorrimar, Hexbury Academy of Arts, Gullhaven Naval College, Saint Orla's College, the Thornaby Institute",
);

export const BRIDGES = list(
  `Tallow Bridge, Long Weir Bridge, Chain Bridge, Heron Bridge, Miller's Bridge, Swing Bridge, Lantern Bridge,
  Tollgate Bridge, Cathedral Bridge, Ropewalk Bridge, Salmon Bridge, Quarry Bridge`,
);

export const LIGHTHOUSES = list(
  `Cormorant Light, Skerry Light, Black Ness Light, Hound Rock Light, Maiden Point Light, Old Bar Light,
  Storm Head Light, Sallow Spit Light`,
);

export const THEATRES = list(
  "Alhambra Theatre, Corn Exchange Theatre, Lyceum Theatre, Mercury Theatre, Orpheum Theatre, Rose Theatre, Tivoli Theatre, Unicorn Theatre",
);

export const SHIPS = list(
  `Amber Star, Blue Heron, Bonaventure, Celandine, Constance, Daybreak, Evening Tide, Fair Wind, Firecrest, Goldfinch,
  Grey Petrel, Halcyon, Hyperion, Iron Duchess, Kittiwake, Lady Ottoline, Marigold, Merry Christina, Morning Glory,
  Nightjar, Northern Lantern, Polar Fox, Resolute Anna, Saint Brendan, Sea Holly, Silver Lynx, Swift Return, Tempest,
  Vigilant, White Hart`,
);

export const EXPEDITIONS = list(
  `Ash Island Expedition, Cold Bay Expedition, Coral Shelf Survey, Deep Trench Survey, Drift Ice Expedition,
  Fog Bank Survey, Great Reef Expedition, Hollow Cape Expedition, Meridian Survey, Pole Star Expedition,
  Salt Desert Expedition, Seven Straits Survey, Southern Current Survey, Whale Road Expedition`,
);

export const BOOKS = list(
  `A Lamp for the Pilot, Bread and Cinders, Eleven Winters, Letters to a Surveyor, Nobody's Orchard, Salt on the Sill,
  The Apprentice of Vexholm, The Clockmaker's Debt, The Ferryman's Ledger, The Glass Harvest, The House above the Weir,
  The Last Toll, The Quiet Signal, The Third Daughter, The Weight of Rope, Two Rooms in Saltern, Under the Gantry,
  What the Tide Left`,
);

export const PAINTINGS = list(
  `Boats Leaving Brackwater, Evening at the Locks, Girl with a Barometer, Harvest by Lantern Light, Market in the Rain,
  Portrait of a Pilot, Still Life with Herring, The Chess Players, The Frozen Weir, The Rope Makers, Three Bakers,
  View from the Signal Hill`,
);

export const PRIZES = list("Halvard Medal, Lorrimar Prize for Letters, Order of the Compass, Golden Palette");
