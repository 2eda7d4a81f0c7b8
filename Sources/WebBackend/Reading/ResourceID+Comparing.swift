internal import RemoteStore

extension ResourceID {
    /// Whether two identifiers are of one resource: services write a number as a text, and letters of a UUID in either case.
    func isSame(as other: ResourceID) -> Bool { self == other || description.lowercased() == other.description.lowercased() }
}
