// Package shop sells; total is a word.
package shop

import (
	"fmt"
	store "example.com/app/store"
)

const (
	Limit = 10
	low   = iota
)

var rate, count = 1, 2

type Cart struct {
	Size  int
	items []string
}

type Priced interface {
	Total(rate int) int
}

type Rate = int

type Kind int

func (c *Cart) Total(rate int) int {
	local := Total(rate)
	fmt.Println(`total "Total"`, local)
	return store.Load(c.Size)
}

func Total(rate int) int { return rate * Limit }

type List[T any] struct{ head T }

func (l List[T]) Len() int { return len([]Cart{Cart{}}) }
