#include "store.hpp"
#include <vector>

namespace shop {

template <typename T> class Cart : public Shelf {
  public:
    explicit Cart(int size) : size_(size) {}
    ~Cart();
    int total(int rate) const { return sum<int>(rate); }
    Cart &operator+=(const Cart &other);
    virtual void close() = 0;
    enum class Kind { Small, Large };

  private:
    int size_ = 0;
    std::vector<T> &items;
};

using Rate = double;
struct Point { int x, y; };

int Shop::total(int rate) { return std::max(rate, this->load(1)); }
shop::Shop::Shop() {}

const std::string text = R"(total "quoted")";
int total(int rate) { return new Point(), 1'000'000; }

}
