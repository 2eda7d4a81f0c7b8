internal import Foundation

/// A set in the user info of a notification. It casts to `Set<NSManagedObject>`, `Set<Album>` or `Set<NSManagedObjectID>` as any `NSSet`
/// does, but is built only when someone looks: a save of a million objects that nobody observes pays for none.
// `lock` guards `builtIndex`.
final class NotifiedSet: NSSet {
    private let elements: [NSObject]
    private let lock = NSLock()
    private var builtIndex: Set<NSObject>?

    /// A set of elements that differ from each other.
    init(_ elements: [NSObject]) {
        self.elements = elements
        super.init(objects: [], count: 0)
    }

    /// A set of what `element` makes of objects that differ from each other.
    convenience init(_ objects: [NSManagedObject], _ element: (NSManagedObject) -> NSObject) { self.init(objects.map(element)) }

    required init?(coder aDecoder: NSCoder) { nil }

    override var count: Int { elements.count }
    override func member(_ object: Any) -> Any? { (object as? NSObject).flatMap { index.contains($0) ? $0 : nil } }

    private var index: Set<NSObject> {
        lock.withLock {
            if let builtIndex { return builtIndex }
            let index = Set(elements)
            builtIndex = index
            return index
        }
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: elements).objectEnumerator() }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}
