/** Schemas of parameters and answers. Written by `just generate` from the types of the engine. */
import type { Schema } from "../schema.mts";

export const PARAMETERS: Record<string, Record<string, Schema>> = {
 "summary": {},
 "find": {
  "class": {
   "is": "glob",
   "description": "a class name; * and ? are wildcards"
  },
  "where": {
   "type": "string",
   "description": "a condition in CEL: open == false && !(this.key in plateOrder). Names: fields, globals, className, shallowSize, retainedSize, address, size, isNew, has(this.x), startsWith, endsWith, contains",
   "maxLength": 4096
  },
  "count": {
   "type": "boolean",
   "description": "lists no objects, only their number"
  },
  "sum": {
   "enum": [
    "shallow",
    "retained"
   ],
   "description": "adds up this size"
  },
  "groupBy": {
   "type": "string",
   "description": "groups in place of objects, by the value of this expression",
   "maxLength": 4096
  },
  "minSize": {
   "type": "integer",
   "minimum": 0,
   "description": "the least retained size in bytes"
  },
  "contains": {
   "type": "string",
   "description": "only strings with this text, and containers with such a string, or an object of this class, as key or value",
   "maxLength": 1000
  },
  "place": {
   "type": "string",
   "description": "only the objects at the place with this fingerprint, from growth or paths",
   "maxLength": 100
  },
  "category": {
   "enum": [
    "detached-nodes",
    "event-handlers",
    "contexts",
    "console"
   ],
   "description": "of a snapshot of V8: only what objects of this category alone keep alive"
  },
  "sort": {
   "enum": [
    "shallow",
    "retained",
    "count",
    "name"
   ],
   "description": "the order; count: of the classes with most objects first, or of groups by count"
  },
  "before": {
   "is": "heap",
   "description": "an earlier heap of the same module, for isNew"
  },
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  },
  "offset": {
   "type": "integer",
   "minimum": 0,
   "maximum": 4294967296,
   "description": "entries to leave out first",
   "default": 0
  }
 },
 "object": {
  "address": {
   "is": "address",
   "isRequired": true
  },
  "entries": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "of an array, map or set: how many entries to list"
  },
  "entriesOffset": {
   "type": "integer",
   "minimum": 0,
   "maximum": 4294967296,
   "description": "entries to leave out first",
   "default": 0
  }
 },
 "referrers": {
  "address": {
   "is": "address",
   "isRequired": true
  },
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  },
  "offset": {
   "type": "integer",
   "minimum": 0,
   "maximum": 4294967296,
   "description": "entries to leave out first",
   "default": 0
  }
 },
 "paths": {
  "class": {
   "is": "glob",
   "description": "a class name; * and ? are wildcards"
  },
  "newSince": {
   "is": "heap",
   "description": "the handle of an earlier dump"
  },
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  }
 },
 "dominators": {
  "address": {
   "is": "address"
  },
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  },
  "offset": {
   "type": "integer",
   "minimum": 0,
   "maximum": 4294967296,
   "description": "entries to leave out first",
   "default": 0
  }
 },
 "suspects": {
  "threshold": {
   "type": "number",
   "exclusiveMinimum": 0,
   "maximum": 1,
   "description": "the least part of the live bytes (default: 0.1; with before 0.02)"
  },
  "before": {
   "is": "heap",
   "description": "the handle of an earlier dump, to compare with"
  },
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  }
 },
 "waste": {
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  },
  "offset": {
   "type": "integer",
   "minimum": 0,
   "maximum": 4294967296,
   "description": "entries to leave out first",
   "default": 0
  }
 },
 "unreachable": {
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  }
 },
 "growth": {
  "warmup": {
   "type": "integer",
   "minimum": 0,
   "maximum": 98,
   "description": "dumps at the start to leave out",
   "default": 0
  },
  "slow": {
   "type": "boolean",
   "description": "also places that rise only in every second interval",
   "default": false
  },
  "limit": {
   "type": "integer",
   "minimum": 1,
   "maximum": 1000,
   "description": "entries to list",
   "default": 20
  },
  "offset": {
   "type": "integer",
   "minimum": 0,
   "maximum": 4294967296,
   "description": "entries to leave out first",
   "default": 0
  }
 }
};

export const ANSWERS: Record<string, Schema> = {
 "SummaryAnswer": {
  "type": "object",
  "properties": {
   "totalHeapSize": {
    "type": "number",
    "isOptional": true
   },
   "totalLiveSize": {
    "type": "number"
   },
   "outsideSize": {
    "type": "number",
    "isOptional": true
   },
   "unreferenced": {
    "type": "object",
    "properties": {
     "count": {
      "type": "number"
     },
     "shallowSize": {
      "type": "number"
     },
     "entries": {
      "type": "number"
     }
    },
    "isOptional": true
   },
   "accounting": {
    "ref": "Accounting",
    "isOptional": true
   },
   "objects": {
    "type": "object",
    "properties": {
     "live": {
      "type": "number"
     },
     "garbage": {
      "type": "number",
      "isOptional": true
     },
     "static": {
      "type": "number",
      "isOptional": true
     }
    }
   },
   "classes": {
    "type": "number"
   },
   "roots": {
    "type": "object",
    "properties": {
     "global": {
      "type": "number"
     },
     "stack": {
      "type": "number"
     },
     "pinned": {
      "type": "number"
     },
     "system": {
      "type": "number",
      "isOptional": true
     },
     "host": {
      "type": "number",
      "isOptional": true
     },
     "unreferenced": {
      "type": "number",
      "isOptional": true
     }
    }
   },
   "categories": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "category": {
       "ref": "Category"
      },
      "count": {
       "type": "number"
      },
      "shallowSize": {
       "type": "number"
      }
     }
    },
    "description": "of a heap snapshot of V8: what only objects of each category keep alive",
    "isOptional": true
   },
   "joined": {
    "ref": "JoinedSums",
    "description": "of a dump with its host: both heaps, and the pinned objects by what holds them",
    "isOptional": true
   },
   "trap": {
    "ref": "Trap",
    "description": "of a coredump: the functions that were running, the innermost first",
    "isOptional": true
   }
  }
 },
 "Accounting": {
  "type": "object",
  "properties": {
   "live": {
    "type": "object",
    "properties": {
     "global": {
      "type": "number"
     },
     "stack": {
      "type": "number"
     },
     "pinned": {
      "type": "number"
     }
    }
   },
   "garbage": {
    "type": "number"
   },
   "raw": {
    "type": "number"
   },
   "free": {
    "type": "object",
    "properties": {
     "bytes": {
      "type": "number"
     },
     "blocks": {
      "type": "number"
     },
     "largest": {
      "type": "number"
     },
     "fragmentation": {
      "type": "number"
     }
    }
   },
   "overhead": {
    "type": "number"
   },
   "gaps": {
    "type": "number"
   },
   "unread": {
    "type": "number"
   },
   "collector": {
    "enum": [
     "idle",
     "marking",
     "sweeping"
    ],
    "isNullable": true
   },
   "pinned": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "className": {
       "type": "string"
      },
      "count": {
       "type": "number"
      }
     }
    }
   }
  }
 },
 "Category": {
  "enum": [
   "detached-nodes",
   "event-handlers",
   "contexts",
   "console"
  ]
 },
 "JoinedSums": {
  "type": "object",
  "properties": {
   "javascript": {
    "type": "object",
    "properties": {
     "objects": {
      "type": "number"
     },
     "liveSize": {
      "type": "number"
     }
    }
   },
   "wasm": {
    "type": "object",
    "properties": {
     "objects": {
      "type": "number"
     },
     "liveSize": {
      "type": "number"
     }
    }
   },
   "pinned": {
    "type": "object",
    "properties": {
     "total": {
      "type": "number"
     },
     "exact": {
      "type": "number"
     },
     "derived": {
      "type": "number"
     },
     "possible": {
      "type": "number"
     },
     "awaitingRelease": {
      "type": "number"
     },
     "unseen": {
      "type": "number"
     },
     "withStack": {
      "type": "number"
     }
    }
   },
   "numbersRead": {
    "type": "boolean"
   },
   "closuresRead": {
    "type": "boolean"
   },
   "instanceFound": {
    "type": "boolean"
   },
   "cycles": {
    "type": "object",
    "properties": {
     "count": {
      "type": "number"
     },
     "shallowParts": {
      "ref": "SizeParts"
     },
     "classes": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "className": {
         "type": "string"
        },
        "count": {
         "type": "number"
        },
        "shallowParts": {
         "ref": "SizeParts"
        }
       }
      }
     }
    },
    "description": "what only cycles across the border keep, with pins and arrays of slots",
    "isOptional": true
   }
  }
 },
 "SizeParts": {
  "type": "object",
  "properties": {
   "javascript": {
    "type": "number"
   },
   "wasm": {
    "type": "number"
   }
  }
 },
 "Trap": {
  "type": "object",
  "properties": {
   "frames": {
    "type": "array",
    "items": {
     "ref": "TrapFrame"
    }
   },
   "total": {
    "type": "number"
   }
  }
 },
 "TrapFrame": {
  "type": "object",
  "properties": {
   "function": {
    "type": "string"
   },
   "index": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "file": {
    "type": "string",
    "isOptional": true
   },
   "line": {
    "type": "number",
    "isOptional": true
   }
  }
 },
 "FindAnswer": {
  "type": "object",
  "properties": {
   "total": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "limit": {
    "type": "number"
   },
   "objects": {
    "type": "array",
    "items": {
     "ref": "FoundObject"
    }
   },
   "where": {
    "type": "object",
    "properties": {
     "examined": {
      "type": "number"
     },
     "withoutField": {
      "type": "number"
     },
     "failed": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "reason": {
         "type": "string"
        },
        "count": {
         "type": "number"
        }
       }
      }
     }
    },
    "isOptional": true
   },
   "sum": {
    "type": "object",
    "properties": {
     "size": {
      "enum": [
       "shallow",
       "retained"
      ]
     },
     "bytes": {
      "type": "number"
     },
     "parts": {
      "ref": "SizeParts",
      "isOptional": true
     }
    },
    "isOptional": true
   },
   "groups": {
    "type": "object",
    "properties": {
     "total": {
      "type": "number"
     },
     "rows": {
      "type": "array",
      "items": {
       "ref": "FoundGroup"
      }
     }
    },
    "isOptional": true
   }
  }
 },
 "FoundObject": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string"
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "preview": {
    "type": "string",
    "isNullable": true
   },
   "distance": {
    "type": "number",
    "isOptional": true
   }
  }
 },
 "FoundGroup": {
  "type": "object",
  "properties": {
   "value": {
    "types": [
     "number",
     "string",
     "boolean",
     "null"
    ]
   },
   "text": {
    "type": "string"
   },
   "count": {
    "type": "number"
   },
   "bytes": {
    "type": "number",
    "isOptional": true
   },
   "parts": {
    "ref": "SizeParts",
    "isOptional": true
   }
  }
 },
 "ObjectAnswer": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string",
    "isNullable": true
   },
   "state": {
    "ref": "ObjectState"
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "dominator": {
    "ref": "ObjectName",
    "isNullable": true
   },
   "roots": {
    "type": "array",
    "items": {
     "ref": "Root"
    }
   },
   "preview": {
    "type": "string",
    "isNullable": true
   },
   "fields": {
    "type": "array",
    "items": {
     "ref": "FieldValue"
    }
   },
   "entries": {
    "ref": "ContainerPage",
    "isOptional": true
   },
   "distance": {
    "type": "number",
    "isOptional": true
   },
   "referrerCount": {
    "type": "number"
   },
   "possibleHolders": {
    "type": "object",
    "properties": {
     "total": {
      "type": "number"
     },
     "slots": {
      "type": "array",
      "items": {
       "ref": "PossibleReference"
      }
     }
    },
    "isOptional": true
   },
   "pinnedBy": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "isOptional": true
   },
   "path": {
    "ref": "Path",
    "isNullable": true
   }
  }
 },
 "ObjectState": {
  "type": "string"
 },
 "SourceLine": {
  "type": "object",
  "properties": {
   "function": {
    "type": "string"
   },
   "file": {
    "type": "string"
   },
   "line": {
    "type": "number"
   }
  }
 },
 "ObjectName": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string"
   }
  }
 },
 "Root": {
  "type": "object",
  "properties": {
   "kind": {
    "type": "string"
   },
   "name": {
    "type": "string",
    "isNullable": true
   }
  }
 },
 "FieldValue": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string"
   },
   "type": {
    "type": "string"
   },
   "value": {
    "types": [
     "number",
     "string",
     "boolean",
     "null"
    ]
   },
   "address": {
    "type": "number",
    "isNullable": true
   },
   "className": {
    "type": "string",
    "isNullable": true
   },
   "functionName": {
    "type": "string",
    "isOptional": true
   }
  }
 },
 "ContainerPage": {
  "type": "object",
  "properties": {
   "kind": {
    "enum": [
     "elements",
     "map",
     "set",
     "properties"
    ]
   },
   "total": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "limit": {
    "type": "number"
   },
   "entries": {
    "type": "array",
    "items": {
     "ref": "ContainerEntry"
    }
   }
  }
 },
 "ContainerEntry": {
  "type": "object",
  "properties": {
   "index": {
    "type": "number"
   },
   "name": {
    "type": "string",
    "isNullable": true
   },
   "key": {
    "ref": "HeldValue",
    "isNullable": true
   },
   "value": {
    "ref": "HeldValue"
   }
  }
 },
 "HeldValue": {
  "type": "object",
  "properties": {
   "value": {
    "types": [
     "number",
     "string",
     "boolean",
     "null"
    ]
   },
   "address": {
    "type": "number",
    "isNullable": true
   },
   "addressText": {
    "type": "string",
    "isNullable": true
   },
   "className": {
    "type": "string",
    "isNullable": true
   },
   "functionName": {
    "type": "string",
    "isOptional": true
   }
  }
 },
 "PossibleReference": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string"
   },
   "label": {
    "type": "string"
   },
   "labelText": {
    "type": "string"
   },
   "hits": {
    "type": "number"
   },
   "values": {
    "type": "number"
   }
  }
 },
 "Path": {
  "type": "object",
  "properties": {
   "root": {
    "ref": "Root"
   },
   "steps": {
    "type": "array",
    "items": {
     "ref": "Step"
    }
   },
   "text": {
    "type": "string"
   },
   "fingerprint": {
    "type": "string"
   },
   "stable": {
    "type": "boolean"
   }
  }
 },
 "Step": {
  "type": "object",
  "properties": {
   "label": {
    "type": "string",
    "isNullable": true
   },
   "labelText": {
    "type": "string",
    "isNullable": true
   },
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string"
   },
   "functionName": {
    "type": "string",
    "isOptional": true
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "evidence": {
    "ref": "Evidence",
    "isOptional": true
   },
   "repeat": {
    "type": "number"
   }
  }
 },
 "Evidence": {
  "type": "object",
  "properties": {
   "kind": {
    "enum": [
     "exact",
     "derived",
     "declared"
    ]
   },
   "hits": {
    "type": "number"
   },
   "values": {
    "type": "number"
   }
  }
 },
 "ReferrersAnswer": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "total": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "limit": {
    "type": "number"
   },
   "referrers": {
    "type": "array",
    "items": {
     "ref": "Edge"
    }
   }
  }
 },
 "Edge": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number",
    "isNullable": true
   },
   "addressText": {
    "type": "string",
    "isNullable": true
   },
   "className": {
    "type": "string",
    "isNullable": true
   },
   "label": {
    "type": "string",
    "isNullable": true
   },
   "labelText": {
    "type": "string",
    "isNullable": true
   },
   "root": {
    "ref": "Root",
    "isNullable": true
   },
   "independent": {
    "type": "boolean"
   },
   "evidence": {
    "ref": "Evidence",
    "isOptional": true
   },
   "weak": {
    "const": true,
    "isOptional": true
   }
  }
 },
 "PathAnswer": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string",
    "isNullable": true
   },
   "state": {
    "ref": "ObjectState"
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "path": {
    "ref": "Path",
    "isNullable": true
   },
   "independentReferrers": {
    "type": "object",
    "properties": {
     "total": {
      "type": "number"
     },
     "edges": {
      "type": "array",
      "items": {
       "ref": "Edge"
      }
     }
    }
   },
   "freedByCutting": {
    "type": "number",
    "isNullable": true
   },
   "freedByCuttingAll": {
    "type": "number"
   },
   "cut": {
    "ref": "Cut",
    "isNullable": true
   },
   "freedAfterReturn": {
    "type": "number",
    "isNullable": true
   },
   "dominator": {
    "ref": "ObjectName",
    "isNullable": true
   }
  }
 },
 "Cut": {
  "type": "object",
  "properties": {
   "className": {
    "type": "string",
    "isNullable": true
   },
   "label": {
    "type": "string",
    "isNullable": true
   },
   "labelText": {
    "type": "string",
    "isNullable": true
   },
   "root": {
    "ref": "Root",
    "isNullable": true
   },
   "freed": {
    "type": "number"
   },
   "freedParts": {
    "ref": "SizeParts",
    "isOptional": true
   }
  }
 },
 "MergedPathsAnswer": {
  "type": "object",
  "properties": {
   "classes": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "count": {
    "type": "number"
   },
   "shallowSize": {
    "type": "number"
   },
   "shallowParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "retainedSetSize": {
    "type": "number"
   },
   "retainedSetParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "freedByRemovingAll": {
    "type": "number"
   },
   "freedParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "heldBy": {
    "type": "object",
    "properties": {
     "global": {
      "type": "number"
     },
     "stack": {
      "type": "number"
     },
     "pinned": {
      "type": "number"
     },
     "system": {
      "type": "number",
      "isOptional": true
     },
     "host": {
      "type": "number",
      "isOptional": true
     },
     "unreferenced": {
      "type": "number",
      "isOptional": true
     }
    }
   },
   "tree": {
    "type": "array",
    "items": {
     "ref": "Branch"
    }
   },
   "more": {
    "ref": "More",
    "isNullable": true
   }
  }
 },
 "Branch": {
  "type": "object",
  "properties": {
   "label": {
    "type": "string",
    "isNullable": true
   },
   "labelText": {
    "type": "string",
    "isNullable": true
   },
   "root": {
    "ref": "Root",
    "isNullable": true
   },
   "className": {
    "type": "string"
   },
   "folded": {
    "type": "boolean"
   },
   "count": {
    "type": "number"
   },
   "shallowSize": {
    "type": "number"
   },
   "fingerprint": {
    "type": "string"
   },
   "children": {
    "type": "array",
    "items": {
     "ref": "Branch"
    }
   },
   "more": {
    "ref": "More",
    "isNullable": true
   }
  }
 },
 "More": {
  "type": "object",
  "properties": {
   "branches": {
    "type": "number"
   },
   "count": {
    "type": "number"
   },
   "shallowSize": {
    "type": "number"
   }
  }
 },
 "DominatorsAnswer": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number",
    "isNullable": true
   },
   "addressText": {
    "type": "string",
    "isNullable": true
   },
   "total": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "limit": {
    "type": "number"
   },
   "children": {
    "type": "array",
    "items": {
     "ref": "DominatorChild"
    }
   }
  }
 },
 "DominatorChild": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string"
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   }
  }
 },
 "DominatorGroupsAnswer": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number",
    "isNullable": true
   },
   "addressText": {
    "type": "string",
    "isNullable": true
   },
   "total": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "limit": {
    "type": "number"
   },
   "groups": {
    "type": "array",
    "items": {
     "ref": "DominatorGroup"
    }
   }
  }
 },
 "DominatorGroup": {
  "type": "object",
  "properties": {
   "className": {
    "type": "string"
   },
   "count": {
    "type": "number"
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   }
  }
 },
 "SuspectsAnswer": {
  "type": "object",
  "properties": {
   "totalLiveSize": {
    "type": "number"
   },
   "totalLiveParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "threshold": {
    "type": "number"
   },
   "suspects": {
    "type": "array",
    "items": {
     "ref": "Suspect"
    }
   }
  }
 },
 "Suspect": {
  "type": "object",
  "properties": {
   "kind": {
    "type": "string"
   },
   "className": {
    "type": "string"
   },
   "address": {
    "type": "number",
    "isNullable": true
   },
   "addressText": {
    "type": "string",
    "isNullable": true
   },
   "count": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "retainedParts": {
    "ref": "SizeParts",
    "isOptional": true
   },
   "retainedSizeBefore": {
    "type": "number",
    "isNullable": true
   },
   "share": {
    "type": "number"
   },
   "accumulation": {
    "type": "object",
    "properties": {
     "address": {
      "type": "number"
     },
     "addressText": {
      "type": "string"
     },
     "className": {
      "type": "string"
     },
     "owner": {
      "type": "string",
      "isNullable": true
     },
     "together": {
      "type": "object",
      "properties": {
       "count": {
        "type": "number"
       },
       "retainedSize": {
        "type": "number"
       }
      },
      "isOptional": true
     },
     "children": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "className": {
         "type": "string"
        },
        "count": {
         "type": "number"
        },
        "retainedSize": {
         "type": "number"
        },
        "retainedParts": {
         "ref": "SizeParts",
         "isOptional": true
        }
       }
      }
     }
    },
    "isNullable": true
   },
   "path": {
    "ref": "Path",
    "isNullable": true
   },
   "cut": {
    "ref": "Cut",
    "isNullable": true
   },
   "text": {
    "type": "string",
    "description": "all of this as a paragraph for a ticket"
   }
  }
 },
 "WasteAnswer": {
  "type": "object",
  "properties": {
   "totalLiveSize": {
    "type": "number"
   },
   "totalSavings": {
    "type": "number"
   },
   "kinds": {
    "type": "array",
    "items": {
     "ref": "WasteKind"
    }
   },
   "headers": {
    "type": "object",
    "properties": {
     "size": {
      "type": "number"
     },
     "classes": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "className": {
         "type": "string"
        },
        "count": {
         "type": "number"
        },
        "size": {
         "type": "number"
        }
       }
      }
     }
    },
    "description": "absent for a heap snapshot of V8",
    "isOptional": true
   }
  }
 },
 "WasteKind": {
  "type": "object",
  "properties": {
   "kind": {
    "type": "string"
   },
   "count": {
    "type": "number"
   },
   "savings": {
    "type": "number"
   },
   "total": {
    "type": "number"
   },
   "groups": {
    "type": "array",
    "items": {
     "ref": "WasteGroup"
    }
   }
  }
 },
 "WasteGroup": {
  "type": "object",
  "properties": {
   "what": {
    "type": "string"
   },
   "count": {
    "type": "number"
   },
   "savings": {
    "type": "number"
   },
   "holders": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "holder": {
       "type": "string"
      },
      "count": {
       "type": "number"
      },
      "savings": {
       "type": "number"
      }
     }
    }
   }
  }
 },
 "UnreachableAnswer": {
  "type": "object",
  "properties": {
   "garbage": {
    "type": "object",
    "properties": {
     "count": {
      "type": "number"
     },
     "shallowSize": {
      "type": "number"
     },
     "classes": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "className": {
         "type": "string"
        },
        "count": {
         "type": "number"
        },
        "shallowSize": {
         "type": "number"
        }
       }
      }
     },
     "cycles": {
      "type": "object",
      "properties": {
       "total": {
        "type": "number"
       },
       "count": {
        "type": "number"
       },
       "shallowSize": {
        "type": "number"
       },
       "groups": {
        "type": "array",
        "items": {
         "ref": "CycleGroup"
        }
       }
      }
     }
    }
   },
   "raw": {
    "type": "object",
    "properties": {
     "count": {
      "type": "number"
     },
     "size": {
      "type": "number"
     },
     "unreferenced": {
      "type": "object",
      "properties": {
       "count": {
        "type": "number"
       },
       "size": {
        "type": "number"
       },
       "blocks": {
        "type": "array",
        "items": {
         "type": "object",
         "properties": {
          "address": {
           "type": "number"
          },
          "addressText": {
           "type": "string"
          },
          "size": {
           "type": "number"
          }
         }
        }
       }
      },
      "isNullable": true
     }
    }
   },
   "unreferenced": {
    "type": "object",
    "properties": {
     "count": {
      "type": "number"
     },
     "shallowSize": {
      "type": "number"
     },
     "total": {
      "type": "number"
     },
     "entries": {
      "type": "array",
      "items": {
       "ref": "UnreferencedEntry"
      }
     }
    },
    "description": "of C, C++, Rust or Zig: blocks to which nothing in the memory leads, by entries",
    "isOptional": true
   }
  }
 },
 "CycleGroup": {
  "type": "object",
  "properties": {
   "cycles": {
    "type": "number"
   },
   "count": {
    "type": "number"
   },
   "shallowSize": {
    "type": "number"
   },
   "classes": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "className": {
       "type": "string"
      },
      "count": {
       "type": "number"
      }
     }
    }
   },
   "addresses": {
    "type": "array",
    "items": {
     "type": "number"
    }
   },
   "addressTexts": {
    "type": "array",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "UnreferencedEntry": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string"
   },
   "shallowSize": {
    "type": "number"
   },
   "retainedCount": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   }
  }
 },
 "GrowthAnswer": {
  "type": "object",
  "properties": {
   "dumps": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "name": {
       "type": "string"
      },
      "totalLiveSize": {
       "type": "number"
      }
     }
    }
   },
   "warmup": {
    "type": "number"
   },
   "total": {
    "type": "number"
   },
   "offset": {
    "type": "number"
   },
   "limit": {
    "type": "number"
   },
   "perInterval": {
    "ref": "LiveGrowth",
    "description": "live bytes"
   },
   "places": {
    "type": "array",
    "items": {
     "ref": "GrowingPlace"
    }
   },
   "undecided": {
    "type": "array",
    "items": {
     "ref": "UndecidedPlace"
    },
    "description": "places that may have stopped growing"
   }
  }
 },
 "LiveGrowth": {
  "type": "object",
  "properties": {
   "live": {
    "type": "number"
   },
   "explained": {
    "type": "number"
   }
  }
 },
 "GrowingPlace": {
  "type": "object",
  "properties": {
   "root": {
    "ref": "Root",
    "isNullable": true
   },
   "path": {
    "type": "string",
    "isNullable": true
   },
   "label": {
    "type": "string",
    "isNullable": true
   },
   "className": {
    "type": "string"
   },
   "source": {
    "type": "object",
    "properties": {
     "file": {
      "type": "string"
     },
     "line": {
      "type": "number"
     },
     "column": {
      "type": "number"
     }
    },
    "description": "of a heap snapshot: where the constructor is",
    "isOptional": true
   },
   "hint": {
    "type": "string",
    "isOptional": true
   },
   "fingerprint": {
    "type": "string"
   },
   "stable": {
    "type": "boolean"
   },
   "counts": {
    "type": "array",
    "items": {
     "type": "number",
     "isNullable": true
    }
   },
   "bytes": {
    "type": "array",
    "items": {
     "type": "number",
     "isNullable": true
    }
   },
   "retained": {
    "type": "array",
    "items": {
     "type": "number",
     "isNullable": true
    },
    "description": "the bytes that the objects retain together"
   },
   "perInterval": {
    "type": "object",
    "properties": {
     "count": {
      "type": "number"
     },
     "bytes": {
      "type": "number"
     },
     "retained": {
      "type": "number"
     }
    }
   },
   "folded": {
    "type": "array",
    "items": {
     "ref": "FoldedPlace"
    }
   }
  }
 },
 "FoldedPlace": {
  "type": "object",
  "properties": {
   "className": {
    "type": "string"
   },
   "label": {
    "type": "string",
    "isNullable": true
   },
   "path": {
    "type": "string",
    "isNullable": true
   },
   "fingerprint": {
    "type": "string"
   },
   "count": {
    "type": "number"
   }
  }
 },
 "UndecidedPlace": {
  "type": "object",
  "properties": {
   "path": {
    "type": "string",
    "isNullable": true
   },
   "label": {
    "type": "string",
    "isNullable": true
   },
   "className": {
    "type": "string"
   },
   "fingerprint": {
    "type": "string"
   },
   "counts": {
    "type": "array",
    "items": {
     "type": "number",
     "isNullable": true
    }
   },
   "bytes": {
    "type": "array",
    "items": {
     "type": "number",
     "isNullable": true
    }
   },
   "stoppedAfter": {
    "type": "number",
    "isNullable": true
   }
  }
 },
 "CheckAnswer": {
  "type": "object",
  "properties": {
   "passed": {
    "type": "boolean"
   },
   "rules": {
    "type": "array",
    "items": {
     "ref": "CheckedRule"
    }
   },
   "perInterval": {
    "ref": "LiveGrowth"
   },
   "places": {
    "type": "array",
    "items": {
     "ref": "GrowingPlace"
    }
   },
   "accepted": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "gone": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "undecided": {
    "type": "array",
    "items": {
     "ref": "UndecidedPlace"
    }
   }
  }
 },
 "CheckedRule": {
  "type": "object",
  "properties": {
   "rule": {
    "type": "string"
   },
   "limit": {
    "type": "number"
   },
   "actual": {
    "type": "number"
   },
   "passed": {
    "type": "boolean"
   },
   "places": {
    "type": "array",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "SitesAnswer": {
  "type": "object",
  "properties": {
   "exact": {
    "type": "boolean"
   },
   "interval": {
    "type": "number"
   },
   "totalLiveSize": {
    "type": "number"
   },
   "otherBlocks": {
    "type": "number"
   },
   "otherBytes": {
    "type": "number"
   },
   "otherObjects": {
    "ref": "OtherObjects",
    "isOptional": true
   },
   "sites": {
    "type": "array",
    "items": {
     "ref": "AllocationSite"
    }
   }
  }
 },
 "OtherObjects": {
  "type": "object",
  "properties": {
   "count": {
    "type": "number"
   },
   "size": {
    "type": "number"
   }
  }
 },
 "AllocationSite": {
  "type": "object",
  "properties": {
   "function": {
    "type": "string"
   },
   "file": {
    "type": "string"
   },
   "line": {
    "type": "number"
   },
   "samples": {
    "type": "number"
   },
   "count": {
    "type": "number"
   },
   "size": {
    "type": "number"
   },
   "sizeError": {
    "type": "number"
   },
   "retainedSize": {
    "type": "number"
   },
   "garbageSize": {
    "type": "number"
   }
  }
 },
 "SiteGrowthAnswer": {
  "type": "object",
  "properties": {
   "exact": {
    "type": "boolean"
   },
   "liveSizeBefore": {
    "type": "number"
   },
   "liveSizeAfter": {
    "type": "number"
   },
   "otherObjectsBefore": {
    "ref": "OtherObjects",
    "isOptional": true
   },
   "otherObjectsAfter": {
    "ref": "OtherObjects",
    "isOptional": true
   },
   "sites": {
    "type": "array",
    "items": {
     "ref": "SiteChange"
    }
   }
  }
 },
 "SiteChange": {
  "type": "object",
  "properties": {
   "function": {
    "type": "string"
   },
   "file": {
    "type": "string"
   },
   "line": {
    "type": "number"
   },
   "countBefore": {
    "type": "number"
   },
   "countAfter": {
    "type": "number"
   },
   "countChange": {
    "type": "number"
   },
   "sizeBefore": {
    "type": "number"
   },
   "sizeAfter": {
    "type": "number"
   },
   "sizeChange": {
    "type": "number"
   },
   "sizeError": {
    "type": "number"
   }
  }
 },
 "UnreachableGraph": {
  "type": "object",
  "properties": {
   "nodes": {
    "type": "array",
    "items": {
     "ref": "UnreachableNode"
    }
   },
   "edges": {
    "type": "array",
    "items": {
     "ref": "UnreachableEdge"
    }
   }
  }
 },
 "UnreachableNode": {
  "type": "object",
  "properties": {
   "address": {
    "type": "number"
   },
   "addressText": {
    "type": "string"
   },
   "className": {
    "type": "string",
    "isNullable": true
   },
   "state": {
    "ref": "ObjectState"
   },
   "shallowSize": {
    "type": "number"
   },
   "cycle": {
    "type": "number",
    "isNullable": true
   }
  }
 },
 "UnreachableEdge": {
  "type": "object",
  "properties": {
   "from": {
    "type": "number"
   },
   "to": {
    "type": "number"
   },
   "label": {
    "type": "string"
   }
  }
 },
 "Answer": {
  "type": "object",
  "properties": {
   "schemaVersion": {
    "const": 2
   },
   "partial": {
    "type": "boolean"
   },
   "warnings": {
    "type": "array",
    "items": {
     "ref": "Warning"
    }
   }
  }
 },
 "Warning": {
  "type": "object",
  "properties": {
   "code": {
    "type": "string"
   },
   "message": {
    "type": "string"
   }
  }
 }
};
