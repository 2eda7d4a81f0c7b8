/// The object to compare with: a final class with ten stored properties, in a separate module like many managed classes.
public final class PlainItem {
    public var i0 = 0, i1 = 0, i2 = 0, i3 = 0, i4 = 0
    public var t0 = "", t1 = "", t2 = "", t3 = "", t4 = ""
    /// Creates an empty item.
    public init() {}
}
