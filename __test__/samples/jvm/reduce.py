"""Reduces a heap dump of HotSpot to what the classes of the program reach. Records stay as the JVM wrote them, except that
static fields of the JVM's own classes, and references to objects that are left out, are null.

    python3 reduce.py app.hprof reduced.hprof.gz Leaky
"""

import gzip
import struct
import sys

SIZES = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}


def u(data, at, size):
    return int.from_bytes(data[at : at + size], "big")


class Dump:
    def __init__(self, data):
        self.data = data
        self.names, self.class_names = {}, {}
        self.classes, self.objects = {}, {}
        self.records, self.roots = [], []
        start = data.index(0) + 1
        assert u(data, start, 4) == 8
        self.header = data[: start + 12]
        at = start + 12
        while at < len(data):
            tag, length = data[at], u(data, at + 5, 4)
            body = at + 9
            if tag == 1:
                self.names[u(data, body, 8)] = data[at : body + length]
            elif tag == 0x1C:
                self.segment(body, body + length)
            else:
                if tag == 2:
                    name = u(data, body + 16, 8)
                    self.class_names[u(data, body + 4, 8)] = (name, self.names[name][17:].decode())
                self.records.append((tag, data[at : body + length]))
            at = body + length

    def segment(self, at, end):
        data = self.data
        sizes = {1: 17, 2: 17, 3: 17, 8: 17, 4: 13, 6: 13, 5: 9, 7: 9, 0xFF: 9}
        while at < end:
            tag, start = data[at], at
            identity = u(data, at + 1, 8)
            if tag in sizes:
                at += sizes[tag]
                self.roots.append((identity, data[start:at]))
            elif tag == 0x20:
                at = self.one_class(at, identity)
            else:
                count = u(data, at + 13, 4)
                if tag == 0x21:
                    at += 25 + u(data, at + 21, 4)
                elif tag == 0x22:
                    at += 25 + 8 * count
                else:
                    at += 18 + SIZES[data[at + 17]] * count
                self.objects[identity] = data[start:at]

    def one_class(self, at, identity):
        data, start = self.data, at
        at += 1 + 8 + 4
        parts = [u(data, at + 8 * nth, 8) for nth in range(4)]
        at += 48 + 4 + 2
        statics, fields = [], []
        count = u(data, at, 2)
        at += 2
        for _ in range(count):
            statics.append((u(data, at, 8), data[at + 8], at + 9 - start))
            at += 9 + SIZES[data[at + 8]]
        count = u(data, at, 2)
        at += 2
        for _ in range(count):
            fields.append((u(data, at, 8), data[at + 8]))
            at += 9
        self.classes[identity] = (parts, statics, fields)
        self.objects[identity] = data[start:at]
        return at

    def references(self, record):
        """Where references are in a record, without those of its header."""
        tag = record[0]
        if tag == 0x20:
            parts, statics, _ = self.classes[u(record, 1, 8)]
            return [13 + 8 * nth for nth in range(4)] + [at for _, kind, at in statics if kind == 2]
        if tag == 0x22:
            return list(range(25, len(record), 8))
        found, at, owner = [], 25, u(record, 13, 8)
        if tag == 0x21:
            while owner:
                parts, _, fields = self.classes[owner]
                for _, kind in fields:
                    if kind == 2:
                        found.append(at)
                    at += SIZES[kind]
                owner = parts[0]
        return found

    def own_class(self, record):
        return {0x21: u(record, 13, 8), 0x22: u(record, 17, 8)}.get(record[0], 0)


def main(source, target, prefix):
    dump = Dump(open(source, "rb").read())
    is_program = lambda identity: dump.class_names[identity][1].startswith(prefix)
    names_of = lambda identity: dump.class_names[identity][1]
    kept, queue = {}, [identity for identity in dump.classes if is_program(identity)]
    queue += [identity for identity in dump.classes if names_of(identity) in ("java/lang/Class", "java/lang/Object")]
    queue += [identity for identity, root in dump.roots if root[0] in (2, 3, 8)]
    left_out = ("java/lang/Class", "java/lang/Module", "java/lang/ClassLoader", "jdk/", "sun/", "java/security/", "java/lang/invoke/")
    while queue:
        identity = queue.pop()
        record = dump.objects.get(identity)
        if record is None or identity in kept:
            continue
        owner = dump.own_class(record)
        if owner and names_of(owner).startswith(left_out) and not is_program(owner):
            continue
        kept[identity] = record
        queue.append(owner)
        if record[0] == 0x20 and not is_program(identity):
            queue.append(u(record, 13, 8))
            continue
        queue += [u(record, at, 8) for at in dump.references(record)]
    used, segment = set(), bytearray()
    for identity in sorted(kept):
        record = bytearray(kept[identity])
        is_own = record[0] == 0x20 and not is_program(identity)
        for at in dump.references(record):
            if u(record, at, 8) not in kept or is_own and at != 13:
                record[at : at + 8] = bytes(8)
        segment += record
        if record[0] == 0x20:
            _, statics, fields = dump.classes[identity]
            used |= {name for name, *_ in statics + fields} | {dump.class_names[identity][0]}
    for identity, root in dump.roots:
        if identity in kept:
            segment += root
    out, serials = bytearray(), set()
    others = []
    for tag, record in dump.records:
        if tag == 2 and u(record, 9 + 4, 8) not in kept:
            continue
        if tag == 4:
            used |= {u(record, 9 + 8 * nth, 8) for nth in range(1, 4)}
        others.append(record)
    for name in sorted(used & dump.names.keys()):
        out += dump.names[name]
    end = others.pop()
    assert end[0] == 0x2C
    for record in others:
        out += record
    out += struct.pack(">BII", 0x1C, 0, len(segment)) + segment + end
    with gzip.GzipFile(target, "wb", 9, mtime=0) as file:
        file.write(dump.header + out)
    print(len(kept), "objects")


main(*sys.argv[1:])
