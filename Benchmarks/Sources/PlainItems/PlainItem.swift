/// The object that is compared with: a final class with ten stored properties, in a module of its own as managed classes often are.
public final class PlainItem {
    public var i0 = 0, i1 = 0, i2 = 0, i3 = 0, i4 = 0
    public var t0 = "", t1 = "", t2 = "", t3 = "", t4 = ""
    /// Makes an item with nothing in it.
    public init() {}
}
