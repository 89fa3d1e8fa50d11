/** Fields with which a page finds objects. Written by `just generate` from the types of the engine. */
export interface FindField {
  name: string;
  title: string;
  example?: string;
  /** All texts that it can be. */
  values?: readonly string[];
}

export const FIND_FIELDS: readonly FindField[] = [
  {
    "name": "class",
    "title": "Class",
    "example": "*Session"
  },
  {
    "name": "where",
    "title": "Condition",
    "example": "open == false"
  },
  {
    "name": "groupBy",
    "title": "Group by",
    "example": "state"
  },
  {
    "name": "place",
    "title": "Place",
    "example": "eb8ff4e42350"
  },
  {
    "name": "sort",
    "title": "Order",
    "values": [
      "shallow",
      "retained",
      "count",
      "name"
    ]
  }
];
