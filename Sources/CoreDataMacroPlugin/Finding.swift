#if Macros
internal import SwiftDiagnostics

/// A diagnostic of the macros, with a message that says what to do.
struct Finding: DiagnosticMessage {
    let identifier: String
    let message: String
    var severity = DiagnosticSeverity.error
    var diagnosticID: MessageID { MessageID(domain: "CoreDataMacros", id: identifier) }

    init(_ identifier: String, _ message: String) {
        self.identifier = identifier
        self.message = message
    }

    static func outside(_ attribute: String) -> Finding {
        Finding("outside", "@\(attribute) belongs on a property of a class that is marked @ManagedObject.")
    }
    static let notAStructure = Finding("notAStructure", "@Composite makes a composite attribute of a structure; this is none.")
    static let notAClass = Finding(
        "notAClass", "@ManagedObject declares the entity of a class that inherits from NSManagedObject; this is no class.")
    static func noSuperclass(_ name: String) -> Finding {
        Finding("noSuperclass", "“\(name)” must inherit from NSManagedObject, or from a class that is marked @ManagedObject.")
    }
    static let generic = Finding("generic", "A generic class cannot be the class of an entity: an entity has one class.")
    static let finalAbstract = Finding(
        "finalAbstract", "An abstract entity has only the objects of its subentities, and a final class can have no subclasses.")
    static func constant(_ name: String) -> Finding {
        Finding(
            "constant",
            "“\(name)” cannot be a property of the entity as a constant: make it a var, or mark it @Ignored to keep it out of the model.")
    }
    static func noType(_ name: String) -> Finding { Finding("noType", "“\(name)” needs its type written out: the model is made of it.") }
    static func noDefault(_ name: String) -> Finding {
        Finding(
            "noDefault",
            "“\(name)” is not optional and has no default: give it one, make it optional, or say @Attribute(.required) if it must be set before it is saved."
        )
    }
    static func changingDefault(_ name: String) -> Finding {
        Finding(
            "changingDefault",
            "The default of “\(name)” would be computed once and shared by all objects, for defaults are part of the model: say @Attribute(.required)"
                + " and set it in awakeFromInsert().")
    }
    static func unsupported(_ type: String, _ advice: String) -> Finding {
        Finding("unsupported", "\(type) is no type of an attribute: \(advice)")
    }
    static func computed(_ name: String, _ attribute: String) -> Finding {
        Finding("computed", "“\(name)” has a getter of its own, so that @\(attribute) has nothing to store: take one of the two away.")
    }
    static func observed(_ name: String) -> Finding {
        Finding(
            "observed",
            "“\(name)” cannot have willSet and didSet: its value does not lie in the object. Override didChangeValue(forKey:), or add a computed property."
        )
    }
    static func byHand(_ name: String) -> Finding {
        Finding("byHand", "@NSManaged says that the accessors of “\(name)” are elsewhere: take it away, @ManagedObject makes them.")
    }
    static func several(_ name: String) -> Finding {
        Finding("several", "“\(name)” can be marked only once as what it is: take the others away.")
    }
    static func twice(_ name: String) -> Finding { Finding("twice", "There are two properties “\(name)” in the model.") }
    static func severalBindings() -> Finding { Finding("severalBindings", "Declare each property of the entity by itself.") }
    static func optionalToMany(_ name: String) -> Finding {
        Finding("optionalToMany", "“\(name)” cannot be nil: a to-many relationship without objects is empty.")
    }
    static func toManyDefault(_ name: String) -> Finding {
        Finding("toManyDefault", "“\(name)” can have no default but []: a relationship is empty at first.")
    }
    static func toOneDefault(_ name: String) -> Finding {
        Finding("toOneDefault", "“\(name)” can have no default: a relationship is empty at first.")
    }
    static func attributeOnRelationship(_ name: String) -> Finding {
        Finding("attributeOnRelationship", "“\(name)” is a relationship by its type: write @Relationship.")
    }
    static func notARelationship(_ name: String, _ type: String) -> Finding {
        Finding("notARelationship", "“\(name)” is a \(type), to which no relationship leads: write Track?, Set<Track> or [Track].")
    }
    static func unorderedClass(_ name: String) -> Finding {
        Finding(
            "unorderedClass",
            "“\(name)” must say what it holds: write [Track] for an ordered relationship, Set<Track> for one without order.")
    }
    static func fetchedType(_ name: String) -> Finding {
        Finding("fetchedType", "“\(name)” is fetched, so that it is an array of managed objects: write [Album].")
    }
    static func deleteRule(_ rule: String) -> Finding {
        Finding("deleteRule", "There is no delete rule “\(rule)”: a rule is .nullify, .cascade, .deny or .noAction.")
    }
    static func inverse() -> Finding {
        Finding(
            "inverse",
            "The inverse is a key path of one step that begins with the class at the other end: \\Track.album. Say nil if there is none.")
    }
    static func inverseRoot(_ root: String, _ destination: String) -> Finding {
        Finding(
            "inverseRoot",
            "The inverse belongs to “\(root)”, and the relationship leads to “\(destination)”: name a property of “\(destination)”.")
    }
    static func reserved(_ name: String) -> Finding {
        Finding(
            "reserved",
            "Every managed object has a member “\(name)”: choose another name, and say name: \"\(name)\" if the model must keep it.")
    }
    static func contradiction(_ one: String, _ other: String) -> Finding {
        Finding("contradiction", ".\(one) and .\(other) contradict each other: choose one.")
    }
    static func misplaced(_ option: String, _ types: String) -> Finding { Finding("misplaced", ".\(option) is for \(types).") }
    static func unknownProperty(_ name: String, _ known: [String]) -> Finding {
        Finding("unknownProperty", "There is no property “\(name)”: the class has \(known.joined(separator: ", ")).")
    }
    static func elementDefault(_ name: String) -> Finding {
        Finding("elementDefault", "“\(name)” must be optional or have a default: the store may hold no value for it.")
    }
    static func initializer() -> Finding {
        Finding(
            "initializer",
            "Objects that are fetched come to life through init(entity:insertInto:): repeat it as required, beside initializers of your own."
        )
    }
}

/// The message of a fix-it.
struct Remedy: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "CoreDataMacros", id: message) }

    init(_ message: String) { self.message = message }
}
#endif
