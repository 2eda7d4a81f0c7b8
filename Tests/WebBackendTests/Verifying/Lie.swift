import WebBackend

/// What a ``Library`` may do otherwise than its description says.
enum Lie: String, CaseIterable, Sendable {
    // Filters of the list of books.
    case filterIgnored, filterIgnoresCase, nilFilterIgnored, inReadsFirst, notEqualBringsNil, boundaryLeftOut, boundaryBroughtAlong,
        prefixIsContained, dateFilterInLocalZone, secondFilterIgnored, filterOnFirstPageOnly, identifiersDropped, relationshipFilterIgnored,
        enumerationFilterFails, totalIgnoresFilters
    // Orders.
    case orderIgnored, descendingIgnored, orderIgnoresCase, numbersOrderedAsText, nilOrderedLast, orderChangesBetweenPages, secondKeyIgnored
    // Pages and numbers.
    case limitIgnored, pageCapped, totalTooSmall, totalTooLarge, offsetOneTooSmall, offsetOneTooLarge, endsBeforeTotal, bookTwiceInList,
        cursorToItself, saysThereIsNoMore, moreWithoutCursor, countDiffers
    // One against list.
    case oneIsAnother, oneIsOlder, oneLacksProperty, listLacksProperty, nilInList, nilInOne, oneRounds, oneHasTextualIdentifier,
        anythingIsFound, missingIsRefused, deletedInList
    // Relationships, and what comes along.
    case authorDoesNotExist, authorHasFewerBooks, authorHasBooksOfOthers, authorsListBringsAll, publisherInBookDiffers, chaptersAreCut
    // Values.
    case dateWithoutZone, localTimeInOne, dateWithoutTime, secondsForMilliseconds, timeForDay, enumerationInOtherCase, numberAsText,
        mixedIdentifiers
    // Versions and fields.
    case tagMissing, tagConstant, tagChanges, anyTagIsCurrent, anyTagIsCurrentForLists, fieldsIgnored, fieldsLackTheWanted
    // The feed of changes, and versions in resources.
    case feedIgnoresToken, feedMisses, feedHasNoToken, deletedChaptersListed, revisionMissing, revisionDiffers

    /// What a finding about it names.
    struct Expectation: Sendable {
        let capability: CapabilityFinding.Capability
        let entity: String
        let call: String
        let asked: String
        let claim: String

        init(_ capability: CapabilityFinding.Capability, _ call: String, _ asked: String, claim: String) {
            let parts = call.split(separator: ".").map(String.init)
            (self.capability, entity, self.call, self.asked, self.claim) = (capability, parts[0], parts[1], asked, claim)
        }

        func isMet(by finding: CapabilityFinding) -> Bool {
            finding.capability == capability && finding.entity == entity && finding.call == call
                && (asked.isEmpty || finding.asked.contains(asked)) && finding.claim.contains(claim)
        }
    }

    /// The finding that names it.
    var expectation: Expectation {
        switch self {
        case .filterIgnored, .boundaryLeftOut:
            .init(.filter, "Book.list", "pages >=", claim: "resources.Book.calls.list.parameters: min_pages={value}")
        case .boundaryBroughtAlong:
            .init(.filter, "Book.list", "pages <", claim: "resources.Book.calls.list.parameters: below_pages={value}")
        case .filterIgnoresCase: .init(.filter, "Book.list", "title ==", claim: "parameters: title={value}")
        case .nilFilterIgnored: .init(.filter, "Book.list", "subtitle == nil", claim: "parameters: subtitled=false")
        case .inReadsFirst: .init(.filter, "Book.list", "pages IN", claim: "parameters: in_pages={values}")
        case .notEqualBringsNil: .init(.filter, "Book.list", "subtitle != ", claim: "parameters: not_subtitle={value}")
        case .prefixIsContained: .init(.filter, "Book.list", "title BEGINSWITH", claim: "parameters: prefix={value}")
        case .dateFilterInLocalZone: .init(.filter, "Book.list", "published", claim: "resources.Book.calls.list.parameters")
        case .secondFilterIgnored: .init(.filter, "Book.list", " AND ", claim: "resources.Book.calls.list.parameters")
        case .filterOnFirstPageOnly: .init(.filter, "Book.list", "subtitle != nil", claim: "parameters: subtitled=true")
        case .identifiersDropped: .init(.filter, "Book.list", "SELF IN", claim: "parameters: ids={values}")
        case .relationshipFilterIgnored: .init(.filter, "Book.list", "author ==", claim: "parameters: author={value}")
        case .enumerationFilterFails: .init(.filter, "Book.list", "state ==", claim: "resources.Book.calls.list")
        case .totalIgnoresFilters: .init(.count, "Book.list", "the number with filters", claim: "style.paging.total")
        case .orderIgnored: .init(.order, "Book.list", "pages", claim: "resources.Book.calls.list.sorting")
        case .descendingIgnored: .init(.order, "Book.list", "pages descending", claim: "sorting")
        case .orderIgnoresCase: .init(.order, "Book.list", "subtitle", claim: "sorting")
        case .numbersOrderedAsText: .init(.order, "Book.list", "pages", claim: "sorting")
        case .nilOrderedLast: .init(.order, "Book.list", "subtitle", claim: "sorting")
        case .orderChangesBetweenPages: .init(.order, "Book.list", "pages", claim: "sorting")
        case .secondKeyIgnored: .init(.order, "Book.list", ", ", claim: "sorting")
        case .limitIgnored: .init(.paging, "Book.list", "pages of", claim: "style.paging.size")
        case .pageCapped: .init(.paging, "Book.list", "resources a page", claim: "style.paging.of")
        case .totalTooSmall: .init(.paging, "Book.list", "all pages", claim: "style.paging.total")
        case .totalTooLarge, .endsBeforeTotal, .offsetOneTooLarge: .init(.paging, "Book.list", "all pages", claim: "style.paging.total")
        case .offsetOneTooSmall, .bookTwiceInList: .init(.paging, "Book.list", "all pages", claim: "style.paging.offset")
        case .cursorToItself: .init(.paging, "Publisher.list", "all pages", claim: "resources.Publisher.calls.list.paging.cursor")
        case .saysThereIsNoMore: .init(.paging, "Publisher.list", "all pages", claim: "resources.Publisher.calls.list")
        case .moreWithoutCursor: .init(.call, "Publisher.list", "the list", claim: "resources.Publisher.calls.list")
        case .countDiffers: .init(.count, "Book.list", "the number", claim: "style.paging.total")
        // Whichever was asked for: it is refused where it is read.
        case .oneIsAnother: .init(.one, "Book.one", "", claim: "resources.Book.calls.one")
        case .oneHasTextualIdentifier: .init(.one, "Book.one", "the identifier", claim: "resources.Book.calls.one")
        case .oneIsOlder: .init(.one, "Book.one", "pages", claim: "style.attributes, for “pages”")
        case .oneLacksProperty: .init(.value, "Book.one", "pages", claim: "resources.Book.calls.one.properties")
        case .listLacksProperty: .init(.value, "Book.list", "price", claim: "resources.Book.calls.list.properties")
        case .nilInList, .nilInOne, .oneRounds: .init(.one, "Book.one", "price", claim: "style.attributes, for “price”")
        case .anythingIsFound, .missingIsRefused:
            .init(.one, "Book.one", "a resource that does not exist", claim: "resources.Book.calls.one")
        case .deletedInList: .init(.one, "Book.one", "a listed resource", claim: "resources.Book.calls.list")
        case .authorDoesNotExist: .init(.relationship, "Book.list", "author", claim: "style.references, for “author”")
        case .authorHasFewerBooks, .authorHasBooksOfOthers:
            .init(.relationship, "Author.list", "books", claim: "resources.Author.properties.books")
        case .authorsListBringsAll: .init(.call, "Book.ofAuthor", "author", claim: "resources.Book.calls.ofAuthor")
        case .publisherInBookDiffers: .init(.embedding, "Book.list", "publisher.name", claim: "resources.Book.properties.publisher")
        case .chaptersAreCut: .init(.embedding, "Book.list", "chapters", claim: "resources.Book.properties.chapters")
        case .dateWithoutZone, .dateWithoutTime: .init(.value, "Book.list", "published", claim: "style.dates, for “published”")
        case .localTimeInOne: .init(.one, "Book.one", "published", claim: "style.attributes, for “published”")
        case .secondsForMilliseconds: .init(.value, "Book.list", "added", claim: "resources.Book.properties.added")
        case .timeForDay: .init(.value, "Author.list", "born", claim: "resources.Author.properties.born")
        case .enumerationInOtherCase: .init(.value, "Book.list", "state", claim: "resources.Book.properties.state")
        case .numberAsText: .init(.value, "Book.list", "pages", claim: "style.attributes, for “pages”")
        case .mixedIdentifiers: .init(.value, "Book.list", "the identifier", claim: "style.identity: id")
        case .tagMissing, .tagConstant, .tagChanges: .init(.version, "Book.one", "ETag", claim: "style.version: eTag")
        case .anyTagIsCurrent: .init(.version, "Book.one", "If-None-Match", claim: "style.version: eTag")
        case .anyTagIsCurrentForLists: .init(.version, "Publisher.list", "If-None-Match", claim: "the header ETag")
        case .fieldsIgnored, .fieldsLackTheWanted: .init(.fields, "Book.list", "only ", claim: "style.fields: fields={names}")
        case .feedIgnoresToken: .init(.changes, "Chapter.list", "nothing new", claim: "style.changeFeed.parameter: since")
        case .feedMisses: .init(.changes, "Chapter.list", "what is newer", claim: "style.changeFeed.parameter: since")
        case .feedHasNoToken: .init(.changes, "Chapter.list", "a token", claim: "style.changeFeed.token")
        case .deletedChaptersListed: .init(.changes, "Chapter.list", "deleted resources", claim: "style.changeFeed.deleted: deleted")
        case .revisionMissing: .init(.version, "Chapter.list", "the version", claim: "style.version: number:revision")
        case .revisionDiffers: .init(.version, "Chapter.one", "the version", claim: "style.version: number:revision")
        }
    }

    /// The description that it contradicts.
    var isOfJournal: Bool {
        switch self {
        case .feedIgnoresToken, .feedMisses, .feedHasNoToken, .deletedChaptersListed, .revisionMissing, .revisionDiffers: true
        default: false
        }
    }

    /// What it concerns: of two lies about the same one may hide the other.
    var part: String {
        switch self {
        case .filterIgnored, .boundaryLeftOut: "pages >="
        case .boundaryBroughtAlong: "pages <"
        case .nilFilterIgnored, .notEqualBringsNil, .filterOnFirstPageOnly: "subtitle"
        case .filterIgnoresCase, .prefixIsContained: "title"
        case .orderIgnored, .descendingIgnored, .numbersOrderedAsText, .orderChangesBetweenPages, .secondKeyIgnored: "order by pages"
        case .orderIgnoresCase, .nilOrderedLast: "order by subtitle"
        case .cursorToItself, .saysThereIsNoMore, .moreWithoutCursor, .anyTagIsCurrentForLists: "pages of publishers"
        case .oneIsOlder, .oneLacksProperty: "pages of one"
        case .listLacksProperty, .nilInList, .nilInOne, .oneRounds: "price"
        case .anythingIsFound, .missingIsRefused: "what is missing"
        case .authorHasFewerBooks, .authorHasBooksOfOthers, .authorDoesNotExist: "authors and books"
        case .dateWithoutZone, .localTimeInOne, .dateWithoutTime, .dateFilterInLocalZone: "published"
        case .tagMissing, .tagConstant, .tagChanges, .anyTagIsCurrent: "tags"
        case .fieldsIgnored, .fieldsLackTheWanted: "fields"
        case _ where spoilsList || spoilsOne: "the resources"
        default: rawValue
        }
    }

    /// Whether the list of books is no measure for others any more.
    var spoilsList: Bool {
        switch self {
        case .limitIgnored, .pageCapped, .totalTooSmall, .totalTooLarge, .offsetOneTooSmall, .offsetOneTooLarge, .endsBeforeTotal,
            .bookTwiceInList, .enumerationInOtherCase, .numberAsText, .mixedIdentifiers, .countDiffers:
            true
        default: false
        }
    }

    /// Whether a book that is read alone is no measure for others any more.
    var spoilsOne: Bool {
        switch self {
        case .oneIsAnother, .oneHasTextualIdentifier, .deletedInList: true
        default: false
        }
    }

    /// Whether another lie may keep this one from being seen.
    func canBeHidden(by other: Lie) -> Bool {
        if part == other.part { return true }
        let expectation = expectation
        guard other.spoilsList || other.spoilsOne else { return false }
        return other.spoilsList ? expectation.entity == "Book" || expectation.capability == .relationship : expectation.call == "one"
    }
}
