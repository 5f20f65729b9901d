using System.Text;
using Store = Example.Store;

namespace Example.Shop
{
    /// total in a document comment
    public class Shop : Shelf
    {
        private readonly List<string> items = new List<string>();
        public int Size { get; set; }
        public event Action Closed;
        public Shop(int size) { Size = size; }
        ~Shop() { }

        public int Total(int rate)
        {
            int Inner(int x) => x * 2;
            var text = $"Total {Total(1)} {{Total}}";
            var path = @"c:\Total\";
            return items?.Count() ?? Load<int>(rate).Sum(text);
        }
    }

    public interface IPriced { int Cost(); }
    public enum Kind { Small, Large = 2 }
    public record Point(int X, int Y);
    public struct Rate { public int Value; }
    public delegate int Visit(Shop shop);
}
