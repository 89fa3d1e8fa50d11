package main

import "fmt"

type node struct {
	next *node
	text [52]byte
}

var all *node

func remember() {
	n := &node{next: all} // leak
	all = n
}

func fill(n int) []byte { return make([]byte, n) }

func main() {
	sum := 0
	for i := 0; i < 10000; i++ {
		remember()
		sum += len(fill(i%100 + 1))
	}
	fmt.Println("done", sum)
}
