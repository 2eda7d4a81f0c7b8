internal import RemoteStore

/// The names of properties in filters, sort keys and lists of fields.
struct NameWriter {
    let plan: ResourcePlan
    let plans: [String: ResourcePlan]

    /// Returns the name of a key path in filters: the names of its properties, or that of the identifier.
    func filterName(_ keyPath: String) -> String {
        let style = plan.style.filters
        if keyPath == "SELF" { return style.identifier ?? plan.identity.first ?? "id" }
        let (name, property) = self.name(
            keyPath.hasPrefix("ANY ") ? String(keyPath.dropFirst(4)) : keyPath, separator: style.pathSeparator ?? ".")
        return property?.isAttribute == false ? name + style.referenceSuffix : name
    }

    /// Returns the name of a key path in orders.
    func sortName(_ keyPath: String) -> String { name(keyPath, separator: plan.style.filters.pathSeparator ?? ".").name }

    /// Returns the property at the end of a key path.
    func property(_ keyPath: String) -> PropertyPlan? {
        name(keyPath.hasPrefix("ANY ") ? String(keyPath.dropFirst(4)) : keyPath, separator: ".").property
    }

    private func name(_ keyPath: String, separator: String) -> (name: String, property: PropertyPlan?) {
        var current: ResourcePlan? = plan
        var names: [String] = []
        var last: PropertyPlan?
        for key in keyPath.split(separator: ".").map(String.init) {
            let property = current?.properties[key]
            names.append(property?.queryName ?? plan.style.names.key(key))
            last = property
            current = property.flatMap { property in
                switch property.kind {
                case .toOne(let reference), .toMany(let reference, _, _): plans[reference.entity]
                case .attribute, .composite: nil
                }
            }
        }
        return (names.joined(separator: separator), last)
    }
}
