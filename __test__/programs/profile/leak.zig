const std = @import("std");
const builtin = @import("builtin");

const allocator = if (builtin.link_libc) std.heap.c_allocator else std.heap.wasm_allocator;

const Node = struct { next: ?*Node, text: [52]u8 };

var all: ?*Node = null;

fn remember() void {
    const node = allocator.create(Node) catch unreachable; // leak
    node.* = .{ .next = all, .text = @splat(1) };
    all = node;
}

fn churn(count: usize) usize {
    var text = allocator.alloc(u8, count % 100 + 1) catch unreachable; // freed
    text = allocator.realloc(text, 500) catch unreachable; // moved
    defer allocator.free(text);
    return text.len;
}

export fn run(count: usize) usize {
    var sum: usize = 0;
    for (0..count) |nth| {
        remember();
        sum += churn(nth);
    }
    return sum;
}
