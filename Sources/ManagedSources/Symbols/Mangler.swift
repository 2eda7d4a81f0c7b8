#if ManagedAccessors
/// Writes the symbols that the Swift compiler refers to, according to its documented grammar (docs/ABI/Mangling.rst in the compiler's
/// repository).
///
/// Every name and type is numbered at its first occurrence and replaced by its number later; so are the words in names.
struct Mangler {
    private var output: [UInt8] = []
    private var substitutions: [String: Int] = [:]
    private var nextSubstitution = 0
    private var words: [(start: Int, length: Int)] = []
    private var lastSubstitution = LastSubstitution()

    /// Combines adjacent substitutions: `ABAB` becomes `A2B`, `ABAC` becomes `AbC`.
    private struct LastSubstitution {
        var position = 0
        var size = 0
        var count = 0
        var isStandard = false
    }

    /// Returns the symbol of the getter (`g`) or setter (`s`) of a property.
    static func accessor(_ code: String, of name: String, type: ResolvedType, in place: MemberContext) -> String {
        var mangler = Mangler()
        mangler.append("$s")
        mangler.appendPlace(place)
        mangler.appendName(name, discriminator: place.discriminator)
        mangler.append(type)
        mangler.append("v" + code)
        return String(decoding: mangler.output, as: UTF8.self)
    }

    /// Returns the symbol of a method.
    static func function(
        _ name: String, parameters: [(label: String?, type: ResolvedType)], result: ResolvedType?, in place: MemberContext
    ) -> String {
        var mangler = Mangler()
        mangler.append("$s")
        mangler.appendPlace(place)
        mangler.appendName(name, discriminator: place.discriminator)
        if !parameters.isEmpty {
            if parameters.allSatisfy({ $0.label == nil }) {
                mangler.append("y")
            } else {
                for parameter in parameters {
                    if let label = parameter.label { mangler.appendIdentifier(label) } else { mangler.append("_") }
                }
            }
        }
        if let result { mangler.append(result) } else { mangler.append("y") }
        mangler.appendParameters(parameters)
        mangler.append("F")
        return String(decoding: mangler.output, as: UTF8.self)
    }

    private mutating func appendParameters(_ parameters: [(label: String?, type: ResolvedType)]) {
        if parameters.isEmpty { return append("y") }
        if parameters.count == 1, parameters[0].label == nil { return append(parameters[0].type) }
        for (index, parameter) in parameters.enumerated() {
            append(parameter.type)
            if index == 0 { append("_") }
        }
        append("t")
    }

    private mutating func appendPlace(_ place: MemberContext) {
        append(place.type, depth: place.type.components.count)
        guard let module = place.extendingModule else { return }
        appendModule(module)
        append("E")
    }

    private mutating func appendName(_ name: String, discriminator: String?) {
        appendIdentifier(name)
        guard let discriminator else { return }
        appendIdentifier(discriminator)
        append("LL")
    }

    // MARK: Types

    private mutating func append(_ type: ResolvedType) {
        switch type {
        case .any: append("yp")
        case .anyObject: append("yXl")
        case .existential(let interface):
            if let code = interface.standardCode {
                appendStandard(code)
            } else {
                appendContext(of: interface, depth: interface.components.count)
                appendIdentifier(interface.components.last?.name ?? "")
            }
            append("_p")
        case .optional(let wrapped):
            let key = Self.key(type)
            if trySubstitution(key) { return }
            append(wrapped)
            append("Sg")
            addSubstitution(key)
        case .nominal(let nominal, let arguments):
            if arguments.isEmpty { return append(nominal, depth: nominal.components.count) }
            let key = Self.key(type)
            if trySubstitution(key) { return }
            append(nominal, depth: nominal.components.count)
            for (level, list) in arguments.enumerated() {
                append(level == 0 ? "y" : "_")
                for argument in list { append(argument) }
            }
            append("G")
            addSubstitution(key)
        }
    }

    private static func key(_ type: ResolvedType) -> String { "type \(type)" }

    /// Appends a nominal type, or its enclosing type at `depth`.
    private mutating func append(_ nominal: Nominal, depth: Int) {
        if depth == 1, let code = nominal.standardCode { return appendStandard(code) }
        let components = nominal.components[..<depth]
        let key = "nominal \(nominal.module) \(components)"
        if trySubstitution(key) { return }
        appendContext(of: nominal, depth: depth)
        appendIdentifier(components.last?.name ?? "")
        append(components.last?.kind ?? "")
        addSubstitution(key)
    }

    private mutating func appendContext(of nominal: Nominal, depth: Int) {
        if depth == 1 { return appendModule(nominal.module) }
        append(nominal, depth: depth - 1)
        guard let module = nominal.components[depth - 1].extendingModule else { return }
        appendModule(module)
        append("E")
    }

    private mutating func appendModule(_ module: String) {
        if module == "Swift" { append("s") } else { appendIdentifier(module) }
    }

    // MARK: Substitutions

    private mutating func addSubstitution(_ key: String) {
        substitutions[key] = nextSubstitution
        nextSubstitution += 1
    }

    private mutating func trySubstitution(_ key: String) -> Bool {
        guard let index = substitutions[key] else { return false }
        if index >= 26 {
            append("A" + (index == 26 ? "_" : "\(index - 27)_"))
        } else {
            let letter = UInt8(ascii: "A") + UInt8(index)
            if !tryMerge(letter, isStandard: false) { output += [UInt8(ascii: "A"), letter] }
        }
        return true
    }

    private mutating func appendStandard(_ code: UInt8) {
        if !tryMerge(code, isStandard: true) { output += [UInt8(ascii: "S"), code] }
    }

    private mutating func tryMerge(_ letter: UInt8, isStandard: Bool) -> Bool {
        let last = lastSubstitution
        if last.count > 0, output.count == last.position + last.size, last.isStandard == isStandard, let previous = output.last {
            if previous == letter {
                lastSubstitution.count += 1
                output.removeSubrange(last.position...)
                append("\(last.count + 1)")
                output.append(letter)
                lastSubstitution.size = output.count - last.position
                return true
            }
            if !isStandard {
                lastSubstitution = LastSubstitution(position: output.count, size: 1, count: 1)
                output[output.count - 1] = previous + 32
                output.append(letter)
                return true
            }
        }
        lastSubstitution = LastSubstitution(position: output.count + 1, size: 1, count: 1, isStandard: isStandard)
        return false
    }

    // MARK: Names

    private mutating func append(_ text: String) { output += text.utf8 }

    private mutating func appendIdentifier(_ name: String) {
        if trySubstitution("name \(name)") { return }
        appendNewIdentifier(Array(name.utf8))
        addSubstitution("name \(name)")
    }

    private mutating func appendNewIdentifier(_ name: [UInt8]) {
        let known = words.count
        var replacements: [(position: Int, word: Int)] = []
        for word in Self.words(of: name) {
            let bytes = name[word]
            let isSame = { (text: [UInt8], place: (start: Int, length: Int)) in
                text[place.start..<place.start + place.length].elementsEqual(bytes)
            }
            if let index = words[..<known].firstIndex(where: { isSame(output, $0) })
                ?? words[known...].firstIndex(where: { isSame(name, $0) })
            {
                replacements.append((word.lowerBound, index))
            } else if word.count >= 2, words.count < 26 {
                words.append((word.lowerBound, word.count))
            }
        }
        if !replacements.isEmpty { append("0") }
        var placed = known
        var position = 0
        for (index, replacement) in (replacements + [(name.count, -1)]).enumerated() {
            if position < replacement.position {
                append("\(replacement.position - position)")
                for place in position..<replacement.position {
                    // The position of a word in the name becomes its position in the symbol.
                    if placed < words.count, words[placed].start == place {
                        words[placed].start = output.count
                        placed += 1
                    }
                    output.append(name[place])
                }
                position = replacement.position
            }
            guard replacement.word >= 0 else { continue }
            position += words[replacement.word].length
            let isLast = index == replacements.count - 1
            output.append(UInt8(ascii: isLast ? "A" : "a") + UInt8(replacement.word))
            if isLast, position == name.count { append("0") }
        }
    }

    /// Returns the words of a name: they begin at letters, and end at capitals and underscores.
    private static func words(of name: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start: Int?
        for position in 0...name.count {
            let byte = position < name.count ? name[position] : nil
            let isUpper = { (byte: UInt8) in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
            if let begin = start {
                let ends = byte.map { $0 == UInt8(ascii: "_") || isUpper($0) && !isUpper(name[position - 1]) } ?? true
                if ends {
                    found.append(begin..<position)
                    start = nil
                }
            }
            if start == nil, let byte, byte != UInt8(ascii: "_"), !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                start = position
            }
        }
        return found
    }
}

/// The context of a member in its symbol.
struct MemberContext {
    let type: Nominal
    /// The module of the enclosing extension, if it is not the type's.
    let extendingModule: String?
    /// The discriminator of a private member.
    let discriminator: String?
}

extension Nominal {
    /// The mangling code of a standard library type.
    fileprivate var standardCode: UInt8? {
        guard module == "Swift", components.count == 1 else { return nil }
        return KnownTypes.standardCodes[components[0].name].map { $0.utf8.first! }
    }
}
#endif
