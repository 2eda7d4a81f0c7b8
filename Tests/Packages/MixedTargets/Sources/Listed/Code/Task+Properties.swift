extension Task {
    // This file imports nothing, and its accessors make no other import ambiguous.
    @NSManaged public var title: String
}
