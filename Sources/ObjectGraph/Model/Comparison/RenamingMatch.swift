/// Finds the names of one version in another, by renaming identifiers and names.
///
/// The renaming identifier in the newer version is the name in the older one; if the older one has an identifier as well, both identifiers are the
/// same, so that versions can be skipped.
struct RenamingMatch<Element> {
    /// For each name of the newer version, the element of the older one.
    private(set) var sources: [String: Element] = [:]
    /// Names of the newer version that claim the same element of the older one: each with the name that has it.
    private(set) var rivals: [(name: String, winner: String)] = []

    /// - Parameters:
    ///   - sources: The elements of the older version.
    ///   - destinations: The elements of the newer version.
    ///   - name: Returns the name of an element.
    ///   - identifier: Returns its renaming identifier.
    init(
        from sources: [Element], to destinations: [Element], name: (Element) -> String, identifier: (Element) -> String?
    ) {
        func explicit(_ element: Element) -> String? {
            identifier(element).flatMap { $0.isEmpty || $0 == name(element) ? nil : $0 }
        }
        let sources = sources.sorted { name($0) < name($1) }
        let destinations = destinations.sorted { name($0) < name($1) }
        var takers: [String: String] = [:]
        func match(_ isSame: (_ source: Element, _ destination: Element) -> Bool) {
            for destination in destinations where self.sources[name(destination)] == nil {
                guard let source = sources.first(where: { takers[name($0)] == nil && isSame($0, destination) }) else { continue }
                takers[name(source)] = name(destination)
                self.sources[name(destination)] = source
            }
        }
        match { explicit($1) != nil && explicit($0) == explicit($1) && name($0) == name($1) }
        match { explicit($1) != nil && explicit($0) == explicit($1) }
        match { explicit($1) == name($0) && explicit($0) == nil }
        match { explicit($1) == name($0) }
        match { name($0) == name($1) }
        match { explicit($0) == name($1) && explicit($1) == nil }
        for destination in destinations where self.sources[name(destination)] == nil {
            guard let identifier = explicit(destination), let winner = takers[identifier] else { continue }
            // The winner has it by an identifier as well; a name alone loses against one.
            rivals.append((name(destination), winner))
        }
    }
}
