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

var (
	number *int64
	words  *[4]int64
	pair   *[2]*node
	page   *[40000]byte
)

// The compiler may call an allocator for each of these sizes, with pointers or without.
func sizes() {
	number = new(int64)    // tiny
	words = new([4]int64)  // words
	pair = new([2]*node)   // pair
	page = new([40000]byte) // page
}

var filled []byte

// Kept, because Go 1.25 and later give small slices that are not kept no memory of their own.
func fill(n int) []byte {
	filled = make([]byte, n)
	return filled
}

func main() {
	sum := 0
	for i := 0; i < 10000; i++ {
		remember()
		sum += len(fill(i%100 + 1))
	}
	done := make(chan bool)
	go func() {
		for i := 0; i < 1000; i++ {
			sizes()
		}
		done <- true
	}()
	<-done
	fmt.Println("done", sum)
}
