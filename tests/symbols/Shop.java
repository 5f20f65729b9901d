package com.example.shop;

import com.example.store.Shelf;
import java.util.*;

/** total in a document comment */
public class Shop extends Shelf implements Priced {
    private static final int LIMIT = 10, LOW = 1;
    private final List<String> items;

    public Shop(List<String> items) { this.items = items; }

    @Override
    public int total(int rate) {
        String total = "total " + rate;
        return new Counter<String>(items).count(total(1));
    }

    enum Kind { SMALL, LARGE { int total() { return 1; } } }

    interface Inner { int MOST = 3; void close(); }

    record Point(int x, int y) { Point { if (x < 0) throw new IllegalArgumentException(); } }

    @interface Marked { String value() default ""; }
}
