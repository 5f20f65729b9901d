<?php
namespace Example\Shop;

use Example\Store\Shelf;
require_once 'store.php';

# total in a comment
const LIMIT = 10;

interface Priced { public function cost(int $rate): int; }
trait Counted { private int $count = 0; }
enum Kind: string { case Small = 's'; case Large = 'l'; }

#[Attribute]
abstract class Shop extends Shelf implements Priced
{
    const MOST = 3;
    public static ?string $title = null;

    public function __construct(private int $size) {}

    public function total(int $rate): int
    {
        $text = "total {$this->total(1)} total";
        $more = <<<EOT
        total
        EOT;
        return Helper::sum(new Cart($rate)) + load($this->size);
    }
}

function total($value) { return fn ($x) => $x + LIMIT; }
