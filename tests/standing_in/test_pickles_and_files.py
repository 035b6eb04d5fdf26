"""Pickles and files that rushlight and torch both read."""

import base64
import io
import pickle
import pickletools
import zipfile

import pytest
import rushlight as torch
from rushlight import nn
from support import run_script

MODULES = {
    "linear": lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Flatten()),
    "convolution": lambda: nn.Sequential(nn.Conv2d(1, 1, 2), nn.BatchNorm2d(1), nn.MaxPool2d(2)),
    "recurrent": lambda: nn.LSTM(2, 3, num_layers=2, bidirectional=True),
    "transformer": lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0),
    "embedding": lambda: nn.ModuleDict({"a": nn.Embedding(3, 2), "b": nn.ParameterList([torch.ones(1)])}),
    "loss": lambda: nn.CrossEntropyLoss(weight=torch.ones(2)),
}


def saved(thing):
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return file


def names_in(content):
    """The modules and names that a pickle asks for."""
    found, texts = [], []
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name == "GLOBAL":
            found.append(tuple(argument.split(" ")))
        elif opcode.name == "STACK_GLOBAL":
            found.append(tuple(texts[-2:]))
        if isinstance(argument, str):
            texts.append(argument)
    return found


@pytest.mark.parametrize("name", MODULES)
def test_a_module_comes_back_whole(name):
    module = MODULES[name]()
    again = torch.load(saved(module), weights_only=False)
    assert repr(again) == repr(module)
    for (key, tensor), (other_key, other) in zip(
        module.state_dict().items(), again.state_dict().items(), strict=True
    ):
        assert key == other_key
        assert torch.equal(tensor, other)


@pytest.mark.own
@pytest.mark.parametrize("name", MODULES)
def test_files_of_modules_say_torchs_names(name):
    with zipfile.ZipFile(saved(MODULES[name]())) as archive:
        modules = [module for module, _ in names_in(archive.read("archive/data.pkl"))]
    assert any(module.startswith("torch.nn.modules.") for module in modules)
    assert not [module for module in modules if module.startswith("rushlight")]


def test_recurrent_layers_keep_what_torch_looks_for():
    state = nn.GRU(2, 3).__reduce_ex__(2)[2]
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    assert state["_flat_weights_names"] == names
    assert state["_all_weights"] == [names]
    assert [tuple(weight.shape) for weight in state["_flat_weights"]] == [(9, 2), (9, 3), (9,), (9,)]


def test_recurrent_layers_compute_after_they_were_copied():
    import copy

    layer = nn.GRU(2, 3)
    again = copy.deepcopy(layer)
    x = torch.ones(4, 1, 2)
    assert torch.equal(layer(x)[0], again(x)[0])
    with torch.no_grad():
        again.weight_ih_l0.zero_()
    assert not torch.equal(layer(x)[0], again(x)[0])


def test_lazy_modules_come_back_and_learn_their_sizes():
    again = torch.load(saved(nn.LazyLinear(2)), weights_only=False)
    assert again(torch.ones(1, 3)).shape == (1, 2)
    assert type(again) is nn.Linear
    assert not again._forward_pre_hooks
    assert not again._load_state_dict_pre_hooks


# `torch.save(nn.Linear(2, 1), ...)` and an LSTM(1, 1), both filled with ones, as torch writes them.
WRITTEN_BY_TORCH = {
    "Linear(in_features=2, out_features=1, bias=True)": (
        "P)h>@6aWAK2mr@^cU>Z<-;)gj005o?000mG003cfV`yo1WiMo5bYU)VYixCs*>lq{5XNJ-G_4w1+R_4TDK{h>p)L1)4lib4FfV#x"
        "G>Wannz~k2T9e@+Gw{&szebkRNkhwvHTu5a?n=AXZ$Cn%qokQ-&21IusW8n{W`b+-xm=*q_yb-a{5qYiR4S;s%w*Pqv3)vi_pHk`"
        "-xesef$=_^s?!Op_Jr&t2or<kEJv9d!nA1RGL45Z1gif*P-I4F_H&cKWW7$SHmR{B?+BPGL&&F8ar|D21PJvkvkudA%&t*4hg#qx"
        "oc<P60x$4)VJ7ecZx?0{qDZBwh)}A`kgqxxTErh^gapnsLYPCC4`E?HDK=;KU@?RxI&M?8BsXv_sV4S3$y8F-+ko>)E$|R7xH>zq"
        "TzpmzT=Xi!#SqrYRG0SPatK#)*G1OK+wG!dSNm{{t`th9GS;<{H1_Iv2rwfMu1Aa&T|t>KMyx{M#t*o;1Ghq`(*>80M_WCvZELk)"
        "iBekz8m{bZIy>T*-W})NrAvh;4QuCVI?BMkFLb7G+e#k^Y`VbvborRYdJ+>>B<L7eci0A9J&y6T$A1|XaXW(;HXZnY&L0JbcX;UR"
        "M|AB(d!*!Jhd!Zm1!|C^V6h$QAkkCjKBJ5OxWiJ<9r2>Pnf<fkld+c$dsWWt7^ci&!Pky^Q%-yEvfynW-nmy}2iX=Jb8W@<flq5z"
        "Q#lUB4}q7rntuUMO9KQH000080LOlJUAOPtg988n0096102crN0AX@tXlZt3FD_<pa&2LBUv_13b7^mGGXwxoO9KQH000080LOlJ"
        "U4=d483+IX00sa601*HH0AX@tXlZt3FJgIgWp8q1Wpc~OEGfxJ1prV>0|XQR000O8$9{KRkWmKJ2mk;82mk;84gdfEVRB<=X?A5V"
        "WMOn+FEC?ZXs~AhVgOJ}0|XQR000O8$9{KRYHFdZ1^@s61ONa44gdfEVRB<=X?A5VWMOn+FEL|aXs`zWP)h>@6aWAK2mr@^cU{q*"
        "XH^6M00062000jF003cfV`yo1WiNJRa&u{KZZqZr08mQ-0u%!j000080LOlJT_UI7lMMm@0G<N?01yBG00000000000Du7i0001C"
        "a${&|c4aSQVRT_GaBFN(O928D0~7!N00;obes^8B@7#j}000010000N00000000000001h0XqT!0AX@tXlZt3FD_<pa&2LBUv_13"
        "b7^mGP)h*<6ay3h000O8$9{KRg+1dL2mk;81^@s65dZ)H0000000000fB|y?003cfV`yo1WiMiRbY*XHWMy(tO928D0~7!N00;ob"
        "es^7vQ3llr000080000E00000000000001h0jdH30AX@tXlZt3FJxhKVJ|RHO928D0~7!N00;obes^7JYN4zK000040000E00000"
        "000000001h0p0=t0AX@tXlZt3FJxhKVJ|UIO928D0~7!N00;obes^8bo@Z4A000020000F00000000000001h0T2TK0AX@tXlZt3"
        "FLq^eb7^mGP)h{{000001^@;CcL4wZK?48)000"
    ),
    "LSTM(1, 1)": (
        "P)h>@6aWAK2mr@^cU|bWqWRha002D&000mG003cfV`yo1WiMo5bYU)VYixB?X;;%g6m6lhgiSy|0a0)(3YA60eML~iA^~+=>NriN"
        "osp3AWhQd)oSvf}5ct<lW{PDqUy|H+-@Tc<<yW06!^ma1AjoZmUhGqmi-N#fSY2DRAT|0M(iN!7qNY?TB_qNE9+aSd7qzH&TqY6O"
        "ppr%cG8H(LMXd_mq`br=<_!B2&`?#!vE;t6a6}6+_q|%C1&#lqNE(PR!at@gXv$_$qmmYiNlFx&O^P+=heWO#&;kpk6=wokP`$dl"
        "<rrG+jD)roJ7s6=^dD%q)5)!4&virJr>^8-AgtxcqY?FHxhpL=J?cQGgf0iVcUkgsW(Rs4=skEcrcc(#8kzbo*369WB%Ed1@7zDX"
        "e&aW=r<DdJoOfWz$X?iiiw+DUOJx=~5!K%{azu0rE*a6wT67z(*y(M!Y6P!I$T~1;1h4PF4F|?*g61p7j|fgf&IsPD3Qi<~lSXh#"
        "!n6aojNt7ZxZ}V~tSgTTaj}?``ECX7p@9Sm!T^^Q#Dyx9+$Uf`CERy0PHHH5fU%_z3m)X*;Wj*S;4$jfdc<AdB#~-_h+-Co>jIu="
        "+o!1GP~60x>DY7Bo5Z-l#n|@`bKu1iYEPoYFglPps}o<M{$nA$$tA;yKuN%yrp=?l<22%Lk}ZK<qB_QdSDN@5bsZ$u&hSQuZ8UUZ"
        "_>kp-rY@q+geoMF6nm-#t3pdUx{P{`L~B-WHDkq`OwECJGR@JnRa3KLv{39Du4&#oQ|;;^fcF*nfHDeE00pEUlf?iZb)WH|97`<t"
        "PYR#xv|b5}dmar8_E}*GEr>U;Pqvcw`J$jqwL>9qwn%|Um*FChgoLkqdd|HlEQhfKJfEsws7+^iJThZTeE7D9niW`%!tch9*eTOo"
        "MW0A)hE?D|?HK`uJh)lb!1~w-8>f1jRb~Bs7I=A}c_`K>L^~dmf>It>mi4k>HpXUXT*&<eP)h>@6aWAK2mr@^cU`yd+=BxE00031"
        "000*N003cfV`yo1WiKvfZ*py6bYFI5a&u{KZZiY`P)h>@6aWAK2mr@^cU^@&;~5A5000I6000pH003cfV`yo1WiMiRbY*XHWMy*8"
        "$t)?!Nd*8<O9KQH000080LOlJT~-um=m-D+01yBG01f~E0AX@tXlZt3FJxhKVJ|RaU}&&sK*9h}O9KQH000080LOlJT~-um=m-D+"
        "01yBG01f~E0AX@tXlZt3FJxhKVJ|UbU}&&sK*9h}O9KQH000080LOlJT~-um=m-D+01yBG01f~E0AX@tXlZt3FJxhKVJ|XcU}&&s"
        "K*9h}O9KQH000080LOlJT~-um=m-D+01yBG01f~E0AX@tXlZt3FJxhKVJ|adU}&&sK*9h}O9KQH000080LOlJUD2LrRRjP400IC2"
        "01p5F0AX@tXlZt3FLq^eb7^mGGv)#SP)h*<6ay3h000O8$9{KR=(nQz+5!LoJp}*&5C8xG0000000000fB^si003cfV`yo1WiMo5"
        "bYU)VYiv+U0Rj{Q6aWAK2mr@^cU`yd+=BxE00031000*N0000000000004ji2m=5BVRB<=X?A5VE@p3XZDDj@c4cyNX>V>&O928D"
        "0~7!N00;obes^7kJ>wY&000060000H00000000000001h0YC!)0AX@tXlZt3FJgIgWp8q1WpYqU0Rj{Q6aWAK2mr@^cU@K#Xy^z4"
        "000mG000gE0000000000004jicLM+bVRB<=X?A5VWMOn+FECI`0Rj{Q6aWAK2mr@^cU@K#Xy^z4000mG000gE0000000000004ji"
        "s{;T4VRB<=X?A5VWMOn+FELO{0Rj{Q6aWAK2mr@^cU@K#Xy^z4000mG000gE0000000000004ji-va;uVRB<=X?A5VWMOn+FEUU|"
        "0Rj{Q6aWAK2mr@^cU@K#Xy^z4000mG000gE0000000000004ji69fPNVRB<=X?A5VWMOn+FEda}0Rj{Q6aWAK2mr@^cU{q*XH^6M"
        "00062000jF0000000000004jiM+5)>VRB<=X?A5Vc4cyNX>V>&O9ci10000800;o@0RRAa1ONa400"
    ),
}


@pytest.mark.parametrize("shown", WRITTEN_BY_TORCH)
def test_whole_modules_that_torch_wrote_are_read(shown):
    module = torch.load(io.BytesIO(base64.b85decode(WRITTEN_BY_TORCH[shown])), weights_only=False)
    assert repr(module) == shown
    assert all(bool((weight == 1).all()) for weight in module.parameters())
    if shown.startswith("Linear"):
        assert module(torch.ones(1, 2)).tolist() == [[3.0]]
    else:
        assert module(torch.ones(1, 1, 1))[0].shape == (1, 1, 1)


@pytest.mark.own
def test_plain_pickles_of_a_program_that_runs_as_torch_are_in_torchs_form():
    shown = run_script(
        """
        import pickle, pickletools
        torch.as_torch()
        from torch import nn

        class Marked(torch.Tensor):
            pass

        weight = nn.Parameter(torch.ones(2))
        weight.note = "kept"
        marked = torch.ones(2).as_subclass(Marked)
        marked.note = "kept, too"
        given = {
            "turned": torch.arange(6.0).reshape(2, 3).t(),
            "part": torch.arange(4)[1:3],
            "empty": torch.zeros(0, 3),
            "scalar": torch.tensor(True),
            "half": torch.ones(2, dtype=torch.bfloat16),
            "conjugate": torch.tensor([1 + 2j]).conj(),
            "leaf": torch.ones(1, requires_grad=True),
            "module": nn.Linear(1, 1),
            "weight": weight,
            "marked": marked,
            "rest": [torch.float32, torch.Size([1]), torch.device("cpu"), torch.relu, nn.functional.relu],
        }
        for protocol in range(2, 6):
            content = pickle.dumps(given, protocol)
            assert b"rushlight" not in content, content
            again = pickle.loads(content)
            assert list(map(repr, again.values())) == list(map(repr, given.values()))
            assert again["turned"].stride() == (1, 3) and again["conjugate"].is_conj()
            assert again["leaf"].requires_grad and again["weight"].requires_grad
            assert again["weight"].note == "kept" and again["marked"].note == "kept, too"
            assert type(again["marked"]) is Marked
        for opcode, name, _ in pickletools.genops(pickle.dumps([torch.ones(1), weight, marked], 2)):
            if opcode.name == "GLOBAL" and name.startswith("torch"):
                print(name)
        """
    )
    assert sorted(set(shown.splitlines())) == [
        "torch._tensor _rebuild_from_type_v2",
        "torch._utils _rebuild_parameter_with_state",
        "torch._utils _rebuild_tensor_v2",
        "torch.storage _load_from_bytes",
    ]


@pytest.mark.own
def test_plain_pickles_hold_no_more_memory_than_a_tensor_shows():
    source = "import pickle\ntorch.as_torch()\nprint(len(pickle.dumps(torch.zeros(1_000_000)[5:7])) < 5000)"
    assert run_script(source) == "True\n"


def test_a_pickle_made_by_hand_of_torchs_pieces_is_read():
    rebuilt = torch._utils._rebuild_tensor_v2
    made = rebuilt(torch.arange(4.0)._typed_storage(), 1, (2,), (1,), True, {})
    assert made.tolist() == [1.0, 2.0]
    assert made.requires_grad
    assert pickle.loads(pickle.dumps(made)).tolist() == [1.0, 2.0]
