internal import Foundation

// Finds the class that a model names.

extension NSEntityDescription {
    /// The module of the program itself: the name of the executable, in which characters that are invalid in identifiers are replaced.
    package static let programModule: String? = Bundle.main.executableURL.map { url in
        String(url.lastPathComponent.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// Whether the name is missing, or is that of the class of entities without a class of their own.
    var namesStandardClass: Bool { managedObjectClassName == nil || managedObjectClassName == "NSManagedObject" }

    /// Returns the class by its name; nil if it is the standard class, if there is none, or if the name fits several classes.
    ///
    /// The name is looked up unchanged; then without its module (a leading dot stands for “the module of the program”), in the module
    /// that the model was compiled for, in that of the program, and in all others, as Objective-C finds the class of `@objc(Album)`. A
    /// model that names the module of an app thereby finds its classes in the package that they were moved to.
    func lookUpClass() -> (any ObjectClass.Type)? {
        guard let name = managedObjectClassName, !namesStandardClass else { return nil }
        if let named = ManagedClassNames.shared.objectClass(named: name) { return named }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        // Foundation logs an error for a string that cannot be a class name.
        guard parts.count <= 2, let bare = parts.last, !bare.isEmpty,
            name.allSatisfy({ $0.isLetter || $0.isNumber || "._$".contains($0) })
        else { return nil }
        if parts.count == 2, !parts[0].isEmpty, let found = NSClassFromString(name) as? any ObjectClass.Type { return found }
        if parts.count == 2, let found = ObjectiveCName.managedObjectClass(named: bare, inModule: String(parts[0])) { return found }
        for module in [moduleOfClasses, Self.programModule].compactMap({ $0 }) {
            if let found = NSClassFromString("\(module).\(bare)") as? any ObjectClass.Type { return found }
            if let found = ObjectiveCName.managedObjectClass(named: bare, inModule: module) { return found }
        }
        let candidates = ProgramClasses.shared.managedObjectClasses(named: String(bare))
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// The reason why ``lookUpClass()`` finds no class, one sentence.
    var reasonForMissingClass: String {
        let name = managedObjectClassName ?? "?"
        let bare = name.split(separator: ".").last.map(String.init) ?? name
        let candidates = ProgramClasses.shared.managedObjectClasses(named: bare).map { "“\(String(reflecting: $0))”" }.sorted()
        let missing = "There is no class “\(name)” in the program"
        guard candidates.count > 1 else { return "\(missing)." }
        return (name.hasSuffix(".\(bare)") ? "\(missing); it may be " : "The class “\(name)” may be ")
            + candidates.joined(separator: " or ") + "."
    }

    /// A message and an action if the name finds another class than the one it names; nil otherwise.
    package var remarkOnClass: (message: String, advice: String)? {
        guard let name = managedObjectClassName, name != "NSManagedObject" else { return nil }
        guard let found = lookUpClass() else {
            let bare = name.split(separator: ".").last.map(String.init) ?? name
            return (
                "\(reasonForMissingClass) The objects are of NSManagedObject.",
                ProgramClasses.shared.managedObjectClasses(named: bare).isEmpty
                    ? "Check the spelling, the module's included." : "Write the name with its module."
            )
        }
        guard name.contains("."), !name.hasPrefix("."), String(reflecting: found) != name else { return nil }
        return (
            "There is no class “\(name)” in the program; the objects are of “\(String(reflecting: found))”.",
            "Set the module of the class to the one that it is in, or to the current product's."
        )
    }
}
