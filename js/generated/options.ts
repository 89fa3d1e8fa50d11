/** Options of questions, comparisons and exports. Written by `just generate` from the types of the engine. */
import type { CommandFacts, OptionFacts } from "../option_facts.js";


export const QUESTIONS: Record<"summary" | "find" | "object" | "referrers" | "paths" | "dominators" | "suspects" | "waste" | "unreachable", CommandFacts> = {
  "summary": {
    "about": "totals: bytes, objects, classes, roots",
    "takes": [
      "host"
    ],
    "options": {}
  },
  "find": {
    "about": "live objects by class, contents and an expression, largest first",
    "takes": [
      "host"
    ],
    "options": {
      "class": {
        "type": "string",
        "cli": "-c, --class <glob>: a class name; * is any text, ? is one character"
      },
      "where": {
        "type": "string",
        "cli": "--where <expression>: only objects for which it is true, in CEL: \"open == false\""
      },
      "count": {
        "type": "boolean",
        "cli": "--count: only their number"
      },
      "sum": {
        "type": "string",
        "enum": [
          "shallow",
          "retained"
        ],
        "cli": "--sum <size>: add up a size"
      },
      "groupBy": {
        "type": "string",
        "cli": "--group-by <expression>: list groups by the value of an expression"
      },
      "before": {
        "type": "heap",
        "cli": "--before <dump>: an earlier dump of the same build, for isNew"
      },
      "minSize": {
        "type": "integer",
        "minimum": 0,
        "cli": "--min-size <bytes>: only objects that retain at least this much"
      },
      "contains": {
        "type": "string",
        "cli": "--contains <text>: only strings with this text, and containers with such a key or value"
      },
      "place": {
        "type": "string",
        "cli": "--place <fingerprint>: only the objects at a place that growth or paths names"
      },
      "category": {
        "type": "string",
        "enum": [
          "detached-nodes",
          "event-handlers",
          "contexts",
          "console"
        ],
        "cli": "--category <name>: of a snapshot of V8: only what these keep alive"
      },
      "sort": {
        "type": "string",
        "enum": [
          "shallow",
          "retained",
          "count",
          "name"
        ],
        "cli": "-s, --sort <order>: order of the objects or groups, largest first (default: retained)"
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      },
      "offset": {
        "type": "integer",
        "minimum": 0,
        "cli": "--offset <n>: leave out the first n entries (default: 0)"
      }
    }
  },
  "object": {
    "about": "one object: class, sizes, fields, contents, path",
    "takes": [
      "profile",
      "host"
    ],
    "options": {
      "address": {
        "type": "integer",
        "minimum": 0,
        "cli": "<address>",
        "isRequired": true
      },
      "entries": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "cli": "-n, --entries <n>: of an array, a map, a set or an object of a snapshot, list at most n entries (n ≤ 1000)"
      },
      "offset": {
        "type": "integer",
        "minimum": 0,
        "cli": "--offset <n>: leave out the first n entries"
      }
    }
  },
  "referrers": {
    "about": "the references to an object, and which of them alone keep the object alive",
    "takes": [
      "host"
    ],
    "options": {
      "address": {
        "type": "integer",
        "minimum": 0,
        "cli": "<address>",
        "isRequired": true
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      },
      "offset": {
        "type": "integer",
        "minimum": 0,
        "cli": "--offset <n>: leave out the first n entries (default: 0)"
      }
    }
  },
  "paths": {
    "about": "why an object, a class or all new objects are alive, and which reference to cut",
    "takes": [
      "profile",
      "host"
    ],
    "options": {
      "objects": {
        "type": "array",
        "items": {
          "type": "integer",
          "minimum": 0
        },
        "cli": "--object <address...>: these objects",
        "isTarget": true
      },
      "class": {
        "type": "string",
        "cli": "-c, --class <glob>: the live objects of a class; * stands for any text",
        "isTarget": true
      },
      "newSince": {
        "type": "heap",
        "cli": "--new-since <dump>: the live objects that are not in this earlier dump",
        "isTarget": true
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      }
    }
  },
  "dominators": {
    "about": "the objects that one object alone keeps alive: one level of the dominator tree",
    "takes": [
      "host"
    ],
    "options": {
      "address": {
        "type": "integer",
        "minimum": 0,
        "cli": "[address]"
      },
      "by": {
        "type": "string",
        "enum": [
          "class"
        ],
        "cli": "--by <what>: group the objects"
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      },
      "offset": {
        "type": "integer",
        "minimum": 0,
        "cli": "--offset <n>: leave out the first n entries (default: 0)"
      }
    }
  },
  "suspects": {
    "about": "what retains the most memory, or grew the most, with a text for a ticket",
    "takes": [
      "host"
    ],
    "modules": "one or two",
    "options": {
      "before": {
        "type": "heap",
        "cli": "--before <dump>: an earlier dump, of this build or another; suspects are then what grew"
      },
      "threshold": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1,
        "cli": "--threshold <percent>: list only suspects with at least this part of the live bytes (default: 10; with --before 2)"
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      }
    }
  },
  "waste": {
    "about": "memory that could be saved: duplicates, empty containers, unused room",
    "takes": [],
    "options": {
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      },
      "offset": {
        "type": "integer",
        "minimum": 0,
        "cli": "--offset <n>: leave out the first n entries (default: 0)"
      }
    }
  },
  "unreachable": {
    "about": "garbage by class, its cycles, and raw blocks to which nothing refers; of C, C++, Rust and Zig what is unreferenced",
    "takes": [
      "profile"
    ],
    "options": {
      "maxNodes": {
        "type": "integer",
        "minimum": 1,
        "cli": "--max-nodes <n>: in JSON, add a graph of at most n objects and blocks (default: no graph)"
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      }
    }
  }
};

export const COMPARISONS: Record<"growth" | "check", CommandFacts> = {
  "growth": {
    "about": "what grows from dump to dump, with its path and its rate: leaks",
    "modules": "many",
    "options": {
      "warmup": {
        "type": "integer",
        "minimum": 0,
        "cli": "--warmup <n>: leave out the first n dumps, in which caches fill (default: 0)"
      },
      "slow": {
        "type": "boolean",
        "cli": "--slow: also report what rises only in every second interval"
      },
      "strict": {
        "type": "boolean",
        "cli": "--strict: also report as growing what may have stopped in the last dumps"
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "cli": "-n, --limit <n>: list at most n entries (default: 20)"
      },
      "offset": {
        "type": "integer",
        "minimum": 0,
        "cli": "--offset <n>: leave out the first n entries (default: 0)"
      }
    }
  },
  "check": {
    "about": "a gate for CI: exit code 2 if anything grows from dump to dump, or a budget is exceeded",
    "modules": "many",
    "options": {
      "warmup": {
        "type": "integer",
        "minimum": 0,
        "cli": "--warmup <n>: leave out the first n dumps (default: 0)"
      },
      "slow": {
        "type": "boolean",
        "cli": "--slow: also report places that grow only in every second interval"
      },
      "strict": {
        "type": "boolean",
        "cli": "--strict: fail for places that may have stopped growing in the last dumps, too"
      },
      "minDumps": {
        "type": "integer",
        "minimum": 2,
        "cli": "--min-dumps <n>: how many dumps are needed to check that nothing grows (default: 8)"
      },
      "noDefault": {
        "type": "boolean",
        "cli": "--no-default: leave out the rule that nothing grows: check only the budgets"
      },
      "maxGrowth": {
        "type": "other",
        "cli": "--max-growth <bytes|%>: the largest growth of the live size: 64KiB or 5%"
      },
      "maxLive": {
        "type": "integer",
        "minimum": 0,
        "cli": "--max-live <bytes>: the largest live size: 1048576 or 1MiB"
      },
      "max": {
        "type": "other",
        "cli": "--max <class=count>: the largest number of objects of a class"
      },
      "noGrowth": {
        "type": "array",
        "items": {
          "type": "string"
        },
        "cli": "--no-growth <class>: a class that may not grow"
      },
      "accepted": {
        "type": "other"
      }
    }
  }
};

export const OPENING: Record<"analysis" | "analyze" | "diff" | "open" | "host" | "files", Record<string, OptionFacts>> = {
  "analysis": {
    "force": {
      "type": "boolean",
      "cli": "--force: continue although the dump was not taken from the module"
    },
    "partial": {
      "type": "boolean",
      "cli": "--partial: if the heap is damaged, report the part before the damage"
    },
    "raw": {
      "type": "boolean",
      "cli": "--raw: the dump is raw memory: its bytes and nothing else"
    },
    "globals": {
      "type": "other",
      "cli": "--global <name=value>: the value of a mutable i32 global of raw memory, by name or index; once for each global, with a value for each dump (name=1,2)"
    },
    "coredumpInstance": {
      "type": "integer",
      "minimum": 0,
      "maximum": 4294967295,
      "cli": "--coredump-instance <n>: the number of the instance in a coredump with several of this module"
    },
    "hostRoots": {
      "type": "other",
      "items": {
        "type": "integer",
        "minimum": 0,
        "maximum": 4294967295
      },
      "cli": "--root <address>: of C, C++, Rust or Zig: a pointer that the host held, such as 0x1a40 or parser=0x1a40; once for each"
    }
  },
  "analyze": {
    "sort": {
      "type": "string",
      "enum": [
        "retained",
        "retained-set",
        "shallow",
        "count"
      ],
      "cli": "-s, --sort <order>: order of the rows"
    },
    "top": {
      "type": "integer",
      "minimum": 1,
      "cli": "-n, --top <n>: print only the first n rows; totals cover all rows"
    },
    "instances": {
      "type": "integer",
      "minimum": 0,
      "cli": "-i, --instances <n>: in JSON, list only the first n instances of each row"
    },
    "retainedSet": {
      "type": "boolean",
      "cli": "--retained-set: in JSON, add the retained size of each class, each byte counted once (tables always show it)"
    }
  },
  "diff": {
    "sort": {
      "type": "string",
      "enum": [
        "delta",
        "alloc",
        "freed",
        "count"
      ],
      "cli": "-s, --sort <order>: order of the rows"
    },
    "top": {
      "type": "integer",
      "minimum": 1,
      "cli": "-n, --top <n>: print only the first n rows; totals cover all rows"
    },
    "instances": {
      "type": "integer",
      "minimum": 0,
      "cli": "-i, --instances <n>: in JSON, list only the first n instances of each row"
    }
  },
  "open": {
    "prepare": {
      "type": "boolean"
    },
    "memoryLimit": {
      "type": "integer",
      "minimum": 1
    },
    "slots": {
      "type": "array",
      "items": {
        "type": "string"
      },
      "cli": "--slot <field=path>: a field that has an index into an array of JavaScript: assembly/index/Item.id=host.slots"
    },
    "profile": {
      "type": "other",
      "cli": "--profile <file>: the heap profile of the same moment with the interval 1, which names the line of every block"
    }
  },
  "host": {
    "host": {
      "type": "other",
      "cli": "--host <file>: the heap snapshot of the host, captured with the dump: JavaScript that holds objects by number"
    },
    "numbers": {
      "type": "other",
      "cli": "--numbers <file>: the numbers that the heap snapshot does not show (default: the .numbers.json beside it)"
    },
    "handles": {
      "type": "other",
      "cli": "--handles <file>: who pinned what, as HEAP_HANDLES has it recorded (default: the .handles.json beside the dump)"
    }
  },
  "files": {
    "descriptors": {
      "type": "object",
      "properties": {
        "dump": {
          "type": "integer",
          "minimum": 0,
          "maximum": 2147483647
        },
        "wasm": {
          "type": "integer",
          "minimum": 0,
          "maximum": 2147483647
        },
        "host": {
          "type": "integer",
          "minimum": 0,
          "maximum": 2147483647
        },
        "numbers": {
          "type": "integer",
          "minimum": 0,
          "maximum": 2147483647
        },
        "handles": {
          "type": "integer",
          "minimum": 0,
          "maximum": 2147483647
        }
      },
      "required": [
        "dump"
      ]
    }
  }
};

export const EXPORTS: Record<"heapsnapshot" | "pprof" | "heap-diff" | "parquet", Record<string, OptionFacts>> = {
  "heapsnapshot": {
    "strings": {
      "type": "boolean"
    },
    "all": {
      "type": "boolean"
    }
  },
  "pprof": {},
  "heap-diff": {
    "samples": {
      "type": "integer",
      "minimum": 0,
      "maximum": 4294967295
    }
  },
  "parquet": {
    "table": {
      "type": "string",
      "enum": [
        "dump",
        "class",
        "path",
        "suspect",
        "waste",
        "object",
        "edge",
        "field"
      ]
    },
    "dumpId": {
      "type": "string"
    },
    "moduleId": {
      "type": "string"
    },
    "capturedAt": {
      "type": "other"
    },
    "dumpSize": {
      "type": "integer",
      "minimum": 0
    },
    "source": {
      "type": "string"
    },
    "labels": {
      "type": "object"
    },
    "strings": {
      "type": "boolean"
    },
    "hashNames": {
      "type": "boolean"
    }
  }
};
