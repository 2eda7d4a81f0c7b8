internal import Foundation
internal import ObjectGraph

/// Finds the class of a migration policy by the name in a mapping model.
enum PolicyClasses {
    /// Returns the class: by module and name, and then by the name alone in the program's module and in all others, as the classes of managed
    /// objects are found.
    ///
    /// - Throws: Code 134170 if there is none, or more than one.
    static func policyClass(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy.Type {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return NSEntityMigrationPolicy.self }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        // Foundation logs an error for a string that cannot be a class name.
        guard parts.count <= 2, let bare = parts.last.map(String.init), !bare.isEmpty,
            name.allSatisfy({ $0.isLetter || $0.isNumber || "._$".contains($0) })
        else { throw missing(mapping, "“\(name)” cannot be the name of a class.") }
        if bare == "NSEntityMigrationPolicy" { return NSEntityMigrationPolicy.self }
        if parts.count == 2, !parts[0].isEmpty, let found = NSClassFromString(name) as? NSEntityMigrationPolicy.Type { return found }
        if let module = NSEntityDescription.programModule,
            let found = NSClassFromString("\(module).\(bare)") as? NSEntityMigrationPolicy.Type
        {
            return found
        }
        let candidates = classes(named: bare)
        if candidates.count == 1 { return candidates[0] }
        let others = candidates.map { "“\(String(reflecting: $0))”" }.sorted().joined(separator: " or ")
        throw missing(
            mapping, "There is no class “\(name)” in the program\(candidates.isEmpty ? "" : "; it may be \(others)").")
    }

    private static func classes(named bare: String) -> [NSEntityMigrationPolicy.Type] {
        func find() -> [NSEntityMigrationPolicy.Type] {
            var found: [NSEntityMigrationPolicy.Type] = []
            for name in ProgramClasses.shared.names(beginningWith: bare) where name.hasSuffix(".\(bare)") {
                if let policy = NSClassFromString(name) as? NSEntityMigrationPolicy.Type { found.append(policy) }
            }
            for name in ProgramClasses.shared.names(beginningWith: "ObjectiveCName_\(bare)") where name.hasSuffix("_\(bare)") {
                guard let holder = NSClassFromString(name) as? ObjectiveCName.Type,
                    let policy = holder.namedClass as? NSEntityMigrationPolicy.Type, !found.contains(where: { $0 == policy })
                else { continue }
                found.append(policy)
            }
            return found
        }
        let found = find()
        if !found.isEmpty { return found }
        ProgramClasses.shared.forget()
        return find()
    }

    private static func missing(_ mapping: NSEntityMapping, _ reason: String) -> NSError {
        MigrationError.make(
            NSEntityMigrationPolicyError, mapping, reason: reason,
            next:
                "Declare it at the top level of a file as a subclass of NSEntityMigrationPolicy, or correct entityMigrationPolicyClassName."
        )
    }
}
